from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.job_status import JobStatus, check_job_status
from ..models.stage import Stage, check_stage

if TYPE_CHECKING:
    from ..models.aggregates_result import AggregatesResult
    from ..models.alerts_result import AlertsResult
    from ..models.collection_result import CollectionResult
    from ..models.evaluation_result import EvaluationResult
    from ..models.ingest_result import IngestResult


T = TypeVar("T", bound="Job")


@_attrs_define
class Job:
    """
    Attributes:
        job_id (str): Id of the job.
        source (str): What the job processes: the file name or URL for an ingest, the video's file name for an
            aggregate re-run, and the name of the collection, alert or evaluation for other jobs.
        status (JobStatus):
        stage (Stage):
        detail (Any): Details, depending on `stage`: `chunks` at `chunked`; `analyzer` at `analyzing` and
            `indexing`; `aggregator` at `aggregating`; `total` and `done` at `changing` (numbers of
            videos) and at `alerting` (numbers of alerts); `configuration`, `asked` and `of` at
            `evaluating`; `traceback` if the job failed.
        result (AggregatesResult | AlertsResult | CollectionResult | EvaluationResult | IngestResult | None): Result of
            the job; null until it is done.
        error (None | str): `TypeName: message` if the job failed; null otherwise.
        created_at (str): Creation time (ISO 8601, UTC, to the second).
        updated_at (str): Time of the last change (ISO 8601, UTC, to the second).
    """

    job_id: str
    source: str
    status: JobStatus
    stage: Stage
    detail: Any
    result: AggregatesResult | AlertsResult | CollectionResult | EvaluationResult | IngestResult | None
    error: None | str
    created_at: str
    updated_at: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.aggregates_result import AggregatesResult  # noqa: PLC0415
        from ..models.alerts_result import AlertsResult  # noqa: PLC0415
        from ..models.collection_result import CollectionResult  # noqa: PLC0415
        from ..models.evaluation_result import EvaluationResult  # noqa: PLC0415
        from ..models.ingest_result import IngestResult  # noqa: PLC0415

        job_id = self.job_id

        source = self.source

        status: str = self.status

        stage: str = self.stage

        detail = self.detail

        result: dict[str, Any] | None
        if isinstance(self.result, IngestResult):
            result = self.result.to_dict()
        elif isinstance(self.result, AggregatesResult):
            result = self.result.to_dict()
        elif isinstance(self.result, AlertsResult):
            result = self.result.to_dict()
        elif isinstance(self.result, CollectionResult):
            result = self.result.to_dict()
        elif isinstance(self.result, EvaluationResult):
            result = self.result.to_dict()
        else:
            result = self.result

        error: None | str
        error = self.error

        created_at = self.created_at

        updated_at = self.updated_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "job_id": job_id,
                "source": source,
                "status": status,
                "stage": stage,
                "detail": detail,
                "result": result,
                "error": error,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.aggregates_result import AggregatesResult  # noqa: PLC0415
        from ..models.alerts_result import AlertsResult  # noqa: PLC0415
        from ..models.collection_result import CollectionResult  # noqa: PLC0415
        from ..models.evaluation_result import EvaluationResult  # noqa: PLC0415
        from ..models.ingest_result import IngestResult  # noqa: PLC0415

        d = dict(src_dict)
        job_id = d.pop("job_id")

        source = d.pop("source")

        status = check_job_status(d.pop("status"))

        stage = check_stage(d.pop("stage"))

        detail = d.pop("detail")

        def _parse_result(
            data: object,
        ) -> AggregatesResult | AlertsResult | CollectionResult | EvaluationResult | IngestResult | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_job_result_type_0 = IngestResult.from_dict(data)

                return componentsschemas_job_result_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_job_result_type_1 = AggregatesResult.from_dict(data)

                return componentsschemas_job_result_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_job_result_type_2 = AlertsResult.from_dict(data)

                return componentsschemas_job_result_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_job_result_type_3 = CollectionResult.from_dict(data)

                return componentsschemas_job_result_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_job_result_type_4 = EvaluationResult.from_dict(data)

                return componentsschemas_job_result_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                AggregatesResult | AlertsResult | CollectionResult | EvaluationResult | IngestResult | None,
                data,
            )

        result = _parse_result(d.pop("result"))

        def _parse_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        error = _parse_error(d.pop("error"))

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        job = cls(
            job_id=job_id,
            source=source,
            status=status,
            stage=stage,
            detail=detail,
            result=result,
            error=error,
            created_at=created_at,
            updated_at=updated_at,
        )

        job.additional_properties = d
        return job

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
