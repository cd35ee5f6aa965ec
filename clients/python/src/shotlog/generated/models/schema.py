from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.chunking_schema import ChunkingSchema
    from ..models.presentations import Presentations
    from ..models.schema_aggregators import SchemaAggregators
    from ..models.schema_detail_levels import SchemaDetailLevels
    from ..models.schema_filter_analyzers import SchemaFilterAnalyzers
    from ..models.schema_filters import SchemaFilters
    from ..models.schema_metadata_keys import SchemaMetadataKeys
    from ..models.schema_modes import SchemaModes
    from ..models.schema_outputs import SchemaOutputs
    from ..models.schema_recommended_thresholds import SchemaRecommendedThresholds
    from ..models.schema_recommended_thresholds_by_analyzer import (
        SchemaRecommendedThresholdsByAnalyzer,
    )
    from ..models.schema_results import SchemaResults
    from ..models.schema_vector_fields import SchemaVectorFields


T = TypeVar("T", bound="Schema")


@_attrs_define
class Schema:
    """
    Attributes:
        analyzers (list[str]): Ids of the analyzers.
        exclusive_groups (list[list[str]]): Groups of mutually exclusive analyzers: an ingest may select only one from
            each group.
        vector_fields (SchemaVectorFields): Description of each vector field, by name.
        detail_levels (SchemaDetailLevels): Description of each detail level, by name.
        filters (SchemaFilters): The search filters, by name.
        aggregators (SchemaAggregators): The aggregators, by id.
        modes (SchemaModes): Description of each search mode, by name.
        recommended_thresholds (SchemaRecommendedThresholds): For each vector field, the `score_threshold` below which
            hits from the default analyzer are
            likely to be random. The thresholds depend only on the embedder. They are absent until the
            service has measured them, shortly after it starts.
        recommended_thresholds_by_analyzer (SchemaRecommendedThresholdsByAnalyzer): The recommended thresholds, by
            analyzer and vector field.
        chunking (ChunkingSchema):
        outputs (SchemaOutputs): JSON schema of each analyzer's output for a chunk, by analyzer id.
        results (SchemaResults): JSON schema of each aggregator's result, by aggregator id.
        filter_analyzers (SchemaFilterAnalyzers): Ids of the analyzers whose output each filter applies to, by filter
            name. An empty list
            means that no installed analyzer provides the filtered field, so the filter matches nothing.
            Filters that apply to every chunk are absent.
        metadata_keys (SchemaMetadataKeys): Type of each metadata key in the videos that the token may read: `string`,
            `number`,
            `boolean`, `time` or `list`.
        presentation (Presentations): How a page shows outputs and results, each list in the order of a page.
        callbacks (bool): Whether this install sends callbacks. If not, `callback_url` and the webhooks of alerts are
            rejected.
    """

    analyzers: list[str]
    exclusive_groups: list[list[str]]
    vector_fields: SchemaVectorFields
    detail_levels: SchemaDetailLevels
    filters: SchemaFilters
    aggregators: SchemaAggregators
    modes: SchemaModes
    recommended_thresholds: SchemaRecommendedThresholds
    recommended_thresholds_by_analyzer: SchemaRecommendedThresholdsByAnalyzer
    chunking: ChunkingSchema
    outputs: SchemaOutputs
    results: SchemaResults
    filter_analyzers: SchemaFilterAnalyzers
    metadata_keys: SchemaMetadataKeys
    presentation: Presentations
    callbacks: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        analyzers = self.analyzers

        exclusive_groups = []
        for exclusive_groups_item_data in self.exclusive_groups:
            exclusive_groups_item = exclusive_groups_item_data

            exclusive_groups.append(exclusive_groups_item)

        vector_fields = self.vector_fields.to_dict()

        detail_levels = self.detail_levels.to_dict()

        filters = self.filters.to_dict()

        aggregators = self.aggregators.to_dict()

        modes = self.modes.to_dict()

        recommended_thresholds = self.recommended_thresholds.to_dict()

        recommended_thresholds_by_analyzer = self.recommended_thresholds_by_analyzer.to_dict()

        chunking = self.chunking.to_dict()

        outputs = self.outputs.to_dict()

        results = self.results.to_dict()

        filter_analyzers = self.filter_analyzers.to_dict()

        metadata_keys = self.metadata_keys.to_dict()

        presentation = self.presentation.to_dict()

        callbacks = self.callbacks

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "analyzers": analyzers,
                "exclusive_groups": exclusive_groups,
                "vector_fields": vector_fields,
                "detail_levels": detail_levels,
                "filters": filters,
                "aggregators": aggregators,
                "modes": modes,
                "recommended_thresholds": recommended_thresholds,
                "recommended_thresholds_by_analyzer": recommended_thresholds_by_analyzer,
                "chunking": chunking,
                "outputs": outputs,
                "results": results,
                "filter_analyzers": filter_analyzers,
                "metadata_keys": metadata_keys,
                "presentation": presentation,
                "callbacks": callbacks,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chunking_schema import ChunkingSchema  # noqa: PLC0415
        from ..models.presentations import Presentations  # noqa: PLC0415
        from ..models.schema_aggregators import SchemaAggregators  # noqa: PLC0415
        from ..models.schema_detail_levels import SchemaDetailLevels  # noqa: PLC0415
        from ..models.schema_filter_analyzers import SchemaFilterAnalyzers  # noqa: PLC0415
        from ..models.schema_filters import SchemaFilters  # noqa: PLC0415
        from ..models.schema_metadata_keys import SchemaMetadataKeys  # noqa: PLC0415
        from ..models.schema_modes import SchemaModes  # noqa: PLC0415
        from ..models.schema_outputs import SchemaOutputs  # noqa: PLC0415
        from ..models.schema_recommended_thresholds import SchemaRecommendedThresholds  # noqa: PLC0415
        from ..models.schema_recommended_thresholds_by_analyzer import (
            SchemaRecommendedThresholdsByAnalyzer,  # noqa: PLC0415
        )
        from ..models.schema_results import SchemaResults  # noqa: PLC0415
        from ..models.schema_vector_fields import SchemaVectorFields  # noqa: PLC0415

        d = dict(src_dict)
        analyzers = cast(list[str], d.pop("analyzers"))

        exclusive_groups = []
        _exclusive_groups = d.pop("exclusive_groups")
        for exclusive_groups_item_data in _exclusive_groups:
            exclusive_groups_item = cast(list[str], exclusive_groups_item_data)

            exclusive_groups.append(exclusive_groups_item)

        vector_fields = SchemaVectorFields.from_dict(d.pop("vector_fields"))

        detail_levels = SchemaDetailLevels.from_dict(d.pop("detail_levels"))

        filters = SchemaFilters.from_dict(d.pop("filters"))

        aggregators = SchemaAggregators.from_dict(d.pop("aggregators"))

        modes = SchemaModes.from_dict(d.pop("modes"))

        recommended_thresholds = SchemaRecommendedThresholds.from_dict(d.pop("recommended_thresholds"))

        recommended_thresholds_by_analyzer = SchemaRecommendedThresholdsByAnalyzer.from_dict(
            d.pop("recommended_thresholds_by_analyzer")
        )

        chunking = ChunkingSchema.from_dict(d.pop("chunking"))

        outputs = SchemaOutputs.from_dict(d.pop("outputs"))

        results = SchemaResults.from_dict(d.pop("results"))

        filter_analyzers = SchemaFilterAnalyzers.from_dict(d.pop("filter_analyzers"))

        metadata_keys = SchemaMetadataKeys.from_dict(d.pop("metadata_keys"))

        presentation = Presentations.from_dict(d.pop("presentation"))

        callbacks = d.pop("callbacks")

        schema = cls(
            analyzers=analyzers,
            exclusive_groups=exclusive_groups,
            vector_fields=vector_fields,
            detail_levels=detail_levels,
            filters=filters,
            aggregators=aggregators,
            modes=modes,
            recommended_thresholds=recommended_thresholds,
            recommended_thresholds_by_analyzer=recommended_thresholds_by_analyzer,
            chunking=chunking,
            outputs=outputs,
            results=results,
            filter_analyzers=filter_analyzers,
            metadata_keys=metadata_keys,
            presentation=presentation,
            callbacks=callbacks,
        )

        schema.additional_properties = d
        return schema

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
