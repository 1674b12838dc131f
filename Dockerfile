# The book in a container: docker build -t tstmeta . && docker run -p 8000:8000 tstmeta
# A shell instead: docker run -it tstmeta bash.  Without CUDA (3.7 GB less): --build-arg UV_TORCH_BACKEND=cpu.

# Python, make, git, and what the tests need of the system (.ci/run); a development container starts here.
FROM python:3.11-slim AS system
RUN apt-get update -q \
 && apt-get install -q -y --no-install-recommends \
    chromium git make \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home reader \
 && install -d -o reader -g reader /opt/tstmeta
USER reader
WORKDIR /opt/tstmeta

FROM system AS book
ARG UV_TORCH_BACKEND
COPY --chown=reader:reader . .
RUN PIP_NO_CACHE_DIR=1 make setup
RUN make book
EXPOSE 8000
CMD [".venv/bin/python", "-m", "http.server", "8000", "--directory", "book/_build/html"]
