from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.health_status import HealthStatus, check_health_status

if TYPE_CHECKING:
    from ..models.health_see_more import HealthSeeMore
    from ..models.health_unavailable import HealthUnavailable
    from ..models.storage_health import StorageHealth
    from ..models.unreadable_video import UnreadableVideo


T = TypeVar("T", bound="Health")


@_attrs_define
class Health:
    """
    Attributes:
        status (HealthStatus):
        ui (bool): Whether the web UI is served; false in API-only mode.
        storage (StorageHealth):
        analyzers (list[str]): Ids of the available analyzers.
        aggregators (list[str]): Ids of the available aggregators.
        sees (list[str]): What the install recognises, of `objects`, `people`, `text` (on screen), `speech` and
            `pictures` (which can be searched for).
        see_more (HealthSeeMore): How to recognise more, by way: `vision_model` and `models`. Empty if all models are
            there.
        unavailable (HealthUnavailable): For each unavailable analyzer, why it is unavailable and how to make it
            available.
        unreadable (list[UnreadableVideo]): Videos whose record or documents could not be read; at most 100. They are
            missing from
            listings. Delete them or ingest them again.
    """

    status: HealthStatus
    ui: bool
    storage: StorageHealth
    analyzers: list[str]
    aggregators: list[str]
    sees: list[str]
    see_more: HealthSeeMore
    unavailable: HealthUnavailable
    unreadable: list[UnreadableVideo]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        status: str = self.status

        ui = self.ui

        storage = self.storage.to_dict()

        analyzers = self.analyzers

        aggregators = self.aggregators

        sees = self.sees

        see_more = self.see_more.to_dict()

        unavailable = self.unavailable.to_dict()

        unreadable = []
        for unreadable_item_data in self.unreadable:
            unreadable_item = unreadable_item_data.to_dict()
            unreadable.append(unreadable_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "status": status,
                "ui": ui,
                "storage": storage,
                "analyzers": analyzers,
                "aggregators": aggregators,
                "sees": sees,
                "see_more": see_more,
                "unavailable": unavailable,
                "unreadable": unreadable,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.health_see_more import HealthSeeMore  # noqa: PLC0415
        from ..models.health_unavailable import HealthUnavailable  # noqa: PLC0415
        from ..models.storage_health import StorageHealth  # noqa: PLC0415
        from ..models.unreadable_video import UnreadableVideo  # noqa: PLC0415

        d = dict(src_dict)
        status = check_health_status(d.pop("status"))

        ui = d.pop("ui")

        storage = StorageHealth.from_dict(d.pop("storage"))

        analyzers = cast(list[str], d.pop("analyzers"))

        aggregators = cast(list[str], d.pop("aggregators"))

        sees = cast(list[str], d.pop("sees"))

        see_more = HealthSeeMore.from_dict(d.pop("see_more"))

        unavailable = HealthUnavailable.from_dict(d.pop("unavailable"))

        unreadable = []
        _unreadable = d.pop("unreadable")
        for unreadable_item_data in _unreadable:
            unreadable_item = UnreadableVideo.from_dict(unreadable_item_data)

            unreadable.append(unreadable_item)

        health = cls(
            status=status,
            ui=ui,
            storage=storage,
            analyzers=analyzers,
            aggregators=aggregators,
            sees=sees,
            see_more=see_more,
            unavailable=unavailable,
            unreadable=unreadable,
        )

        health.additional_properties = d
        return health

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
