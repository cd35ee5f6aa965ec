from typing import Literal, cast

EvaluationMetric = Literal[
    "answered",
    "false_absence",
    "false_answer",
    "false_presence",
    "judged",
    "ndcg",
    "overlap",
    "recall",
    "reciprocal_rank",
    "supported",
]


def check_evaluation_metric(value: str) -> EvaluationMetric:
    return cast(EvaluationMetric, value)
