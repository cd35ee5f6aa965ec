from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.job_status import JobStatus, check_job_status

T = TypeVar("T", bound="IngestAccepted")


@_attrs_define
class IngestAccepted:
    """
    Attributes:
        job_id (str): Id of the job, for `GET /jobs/{job_id}`.
        status (JobStatus):
        source (str): File name, or URL without credentials or query values.
    """

    job_id: str
    status: JobStatus
    source: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        job_id = self.job_id

        status: str = self.status

        source = self.source

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "job_id": job_id,
                "status": status,
                "source": source,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        job_id = d.pop("job_id")

        status = check_job_status(d.pop("status"))

        source = d.pop("source")

        ingest_accepted = cls(
            job_id=job_id,
            status=status,
            source=source,
        )

        ingest_accepted.additional_properties = d
        return ingest_accepted

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
