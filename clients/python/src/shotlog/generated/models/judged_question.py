from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.judgement import Judgement


T = TypeVar("T", bound="JudgedQuestion")


@_attrs_define
class JudgedQuestion:
    """A question with the moments that answer it.

    Attributes:
        id (str): Id of the question, used in the results; 1 to 64 characters.
        text (str): The question or search text, 1 to 2000 characters.
        video_ids (list[str] | Unset): Ids of the videos to search. Default: all.
        collections (list[str] | Unset): Collections to search. Default: all videos.
        relevant (list[Judgement] | Unset): Moments that answer the question.
        absent (bool | Unset): Whether no moment answers the question; if true, `relevant` must be empty. Default:
            false. Default: False.
    """

    id: str
    text: str
    video_ids: list[str] | Unset = UNSET
    collections: list[str] | Unset = UNSET
    relevant: list[Judgement] | Unset = UNSET
    absent: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        text = self.text

        video_ids: list[str] | Unset = UNSET
        if not isinstance(self.video_ids, Unset):
            video_ids = self.video_ids

        collections: list[str] | Unset = UNSET
        if not isinstance(self.collections, Unset):
            collections = self.collections

        relevant: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.relevant, Unset):
            relevant = []
            for relevant_item_data in self.relevant:
                relevant_item = relevant_item_data.to_dict()
                relevant.append(relevant_item)

        absent = self.absent

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "text": text,
            }
        )
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if collections is not UNSET:
            field_dict["collections"] = collections
        if relevant is not UNSET:
            field_dict["relevant"] = relevant
        if absent is not UNSET:
            field_dict["absent"] = absent

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.judgement import Judgement  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        text = d.pop("text")

        video_ids = cast(list[str], d.pop("video_ids", UNSET))

        collections = cast(list[str], d.pop("collections", UNSET))

        _relevant = d.pop("relevant", UNSET)
        relevant: list[Judgement] | Unset = UNSET
        if _relevant is not UNSET:
            relevant = []
            for relevant_item_data in _relevant:
                relevant_item = Judgement.from_dict(relevant_item_data)

                relevant.append(relevant_item)

        absent = d.pop("absent", UNSET)

        judged_question = cls(
            id=id,
            text=text,
            video_ids=video_ids,
            collections=collections,
            relevant=relevant,
            absent=absent,
        )

        judged_question.additional_properties = d
        return judged_question

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
