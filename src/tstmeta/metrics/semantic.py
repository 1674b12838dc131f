"""Metrics that compare vectors: BERTScore, cosines of sentence vectors, WMD, Sim.

The words after the colon name options and a model (see :mod:`.variants`)::

    bertscore                          F1 on the embedded encoder
    bertscore:r+deberta-xlarge-mnli    recall on the model of Pauli et al. (2025)
    bertscore:rescaled+roberta-large   rescaled with the library's baseline
    bertscore:idf                      tokens weighted by how rare they are, by shipped counts
    bertscore:idf=/path/texts.txt      the same by counts in these texts
    bertscore:layer9+owner/model       another model; a folder works as well
    cosine:labse                       cosine of LaBSE's sentence vectors
    s3bert:negations+/path/model       the part of an S3BERT vector that stands for negation
    wmd:vectors=/path/glove.txt        word mover's distance on word vectors of a file
    sim:vectors=/path/glove.txt+idf=/path/texts.txt    Sim as in Pang and Gimpel (2019)

A vector knows nothing of a request but one text, so each text is encoded once.
"""

from .bertscore import BertScore
from .movers import Sim, Wmd
from .sentences import Cosine, S3Bert

__all__ = ["BertScore", "Cosine", "S3Bert", "Sim", "Wmd"]
