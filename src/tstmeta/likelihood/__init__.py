"""The zero-shot likelihood scorer of Pauli et al. (2025), Section 3.3.

A rewrite is scored by how well a language model foresees its tokens when it is asked to rewrite the
source in the target style, to paraphrase it, or to repeat it.  No model library is imported before
a model is loaded.
"""

from ..models.hub import load
from .instructions import TASKS, Instructions
from .scorer import Rewrite, Scorer, TokenScores
from .tokens import VARIANTS, content, style
from .zeroshot import Likelihood, LikelihoodStyle
