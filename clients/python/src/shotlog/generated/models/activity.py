from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.activity_kind import ActivityKind, check_activity_kind

if TYPE_CHECKING:
    from ..models.comment import Comment


T = TypeVar("T", bound="Activity")


@_attrs_define
class Activity:
    """
    Attributes:
        kind (ActivityKind): What happened: a comment was written.
        filename (str): File name of the video.
        comment (Comment): A comment on a moment of a video.
    """

    kind: ActivityKind
    filename: str
    comment: Comment
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        filename = self.filename

        comment = self.comment.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "filename": filename,
                "comment": comment,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.comment import Comment  # noqa: PLC0415

        d = dict(src_dict)
        kind = check_activity_kind(d.pop("kind"))

        filename = d.pop("filename")

        comment = Comment.from_dict(d.pop("comment"))

        activity = cls(
            kind=kind,
            filename=filename,
            comment=comment,
        )

        activity.additional_properties = d
        return activity

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
