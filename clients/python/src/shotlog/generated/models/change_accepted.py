from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.job_status import JobStatus, check_job_status

T = TypeVar("T", bound="ChangeAccepted")


@_attrs_define
class ChangeAccepted:
    """
    Attributes:
        job_id (str): Id of the job; `GET /jobs/{job_id}` reports how many videos have been processed.
        status (JobStatus):
        collection (str): Name of the collection before the change.
    """

    job_id: str
    status: JobStatus
    collection: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        job_id = self.job_id

        status: str = self.status

        collection = self.collection

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "job_id": job_id,
                "status": status,
                "collection": collection,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        job_id = d.pop("job_id")

        status = check_job_status(d.pop("status"))

        collection = d.pop("collection")

        change_accepted = cls(
            job_id=job_id,
            status=status,
            collection=collection,
        )

        change_accepted.additional_properties = d
        return change_accepted

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
