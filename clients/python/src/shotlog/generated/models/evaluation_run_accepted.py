from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.job_status import JobStatus, check_job_status

T = TypeVar("T", bound="EvaluationRunAccepted")


@_attrs_define
class EvaluationRunAccepted:
    """
    Attributes:
        job_id (str): Id of the job, for `GET /jobs/{job_id}`.
        run_id (str): Id of the run, equal to `job_id`. The run exists once the job is done.
        status (JobStatus):
        model_calls (int): Maximum number of billed language model calls that the run can make, not counting retries.
    """

    job_id: str
    run_id: str
    status: JobStatus
    model_calls: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        job_id = self.job_id

        run_id = self.run_id

        status: str = self.status

        model_calls = self.model_calls

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "job_id": job_id,
                "run_id": run_id,
                "status": status,
                "model_calls": model_calls,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        job_id = d.pop("job_id")

        run_id = d.pop("run_id")

        status = check_job_status(d.pop("status"))

        model_calls = d.pop("model_calls")

        evaluation_run_accepted = cls(
            job_id=job_id,
            run_id=run_id,
            status=status,
            model_calls=model_calls,
        )

        evaluation_run_accepted.additional_properties = d
        return evaluation_run_accepted

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
