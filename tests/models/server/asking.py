"""How the tests ask a served model, and how they make its server fail."""

import numpy as np

from tstmeta.models.server import ServerModel

QUICK = {"pause": 0.01, "retries": 2}


def checked(*address, **options):
    """A served model that was asked whether it can be used."""
    model = ServerModel(*address, **options)
    _ = model.window, model.way
    return model


def answers(model, requests, **options):
    return {
        place: values for batch in model.logprobs(requests, **options) for place, values in batch
    }


def same(found, wanted, near=1e-6):
    assert found.keys() == wanted.keys()
    for place, values in wanted.items():
        assert found[place].dtype == np.float32
        np.testing.assert_allclose(found[place], values, atol=near, rtol=0)


def failing(status, body=b"{}", times=99, **headers):
    """An answer of another status to the first completion requests."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda number, asked: (status, names, body) if number <= times else None


def later(answer):
    """The same, but only after the trial, which is the first completion request."""
    return lambda number, asked: answer(number - 1, asked) if number > 1 else None
