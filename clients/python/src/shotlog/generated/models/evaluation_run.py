from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.comparison import Comparison
    from ..models.configuration_result import ConfigurationResult
    from ..models.lost_judgement import LostJudgement
    from ..models.question_result import QuestionResult


T = TypeVar("T", bound="EvaluationRun")


@_attrs_define
class EvaluationRun:
    """
    Attributes:
        run_id (str): Id of the run.
        created_at (str): When the run started (ISO 8601, UTC, to the second).
        seconds (float): Duration of the run, in seconds.
        revision (str): Revision of the questions; only runs with the same revision are comparable.
        embedder (str): Name of the embedder.
        language_model (str): Name of the language model.
        configurations (list[ConfigurationResult]): Results for each configuration, in the order of the request.
        lost (list[LostJudgement]): Judged moments that were skipped because their video was deleted. A question without
            any
            other judged moment is skipped too.
        questions (list[QuestionResult]): Results for each question.
        compare (list[Comparison]): Comparison of each configuration with the first.
    """

    run_id: str
    created_at: str
    seconds: float
    revision: str
    embedder: str
    language_model: str
    configurations: list[ConfigurationResult]
    lost: list[LostJudgement]
    questions: list[QuestionResult]
    compare: list[Comparison]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        run_id = self.run_id

        created_at = self.created_at

        seconds = self.seconds

        revision = self.revision

        embedder = self.embedder

        language_model = self.language_model

        configurations = []
        for configurations_item_data in self.configurations:
            configurations_item = configurations_item_data.to_dict()
            configurations.append(configurations_item)

        lost = []
        for lost_item_data in self.lost:
            lost_item = lost_item_data.to_dict()
            lost.append(lost_item)

        questions = []
        for questions_item_data in self.questions:
            questions_item = questions_item_data.to_dict()
            questions.append(questions_item)

        compare = []
        for compare_item_data in self.compare:
            compare_item = compare_item_data.to_dict()
            compare.append(compare_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "run_id": run_id,
                "created_at": created_at,
                "seconds": seconds,
                "revision": revision,
                "embedder": embedder,
                "language_model": language_model,
                "configurations": configurations,
                "lost": lost,
                "questions": questions,
                "compare": compare,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.comparison import Comparison  # noqa: PLC0415
        from ..models.configuration_result import ConfigurationResult  # noqa: PLC0415
        from ..models.lost_judgement import LostJudgement  # noqa: PLC0415
        from ..models.question_result import QuestionResult  # noqa: PLC0415

        d = dict(src_dict)
        run_id = d.pop("run_id")

        created_at = d.pop("created_at")

        seconds = d.pop("seconds")

        revision = d.pop("revision")

        embedder = d.pop("embedder")

        language_model = d.pop("language_model")

        configurations = []
        _configurations = d.pop("configurations")
        for configurations_item_data in _configurations:
            configurations_item = ConfigurationResult.from_dict(configurations_item_data)

            configurations.append(configurations_item)

        lost = []
        _lost = d.pop("lost")
        for lost_item_data in _lost:
            lost_item = LostJudgement.from_dict(lost_item_data)

            lost.append(lost_item)

        questions = []
        _questions = d.pop("questions")
        for questions_item_data in _questions:
            questions_item = QuestionResult.from_dict(questions_item_data)

            questions.append(questions_item)

        compare = []
        _compare = d.pop("compare")
        for compare_item_data in _compare:
            compare_item = Comparison.from_dict(compare_item_data)

            compare.append(compare_item)

        evaluation_run = cls(
            run_id=run_id,
            created_at=created_at,
            seconds=seconds,
            revision=revision,
            embedder=embedder,
            language_model=language_model,
            configurations=configurations,
            lost=lost,
            questions=questions,
            compare=compare,
        )

        evaluation_run.additional_properties = d
        return evaluation_run

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
