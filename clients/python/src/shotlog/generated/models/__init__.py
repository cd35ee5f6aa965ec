"""Contains all the data models used in inputs/outputs"""

from .activity import Activity
from .activity_kind import ActivityKind
from .activity_list import ActivityList
from .add_selects_request import AddSelectsRequest
from .aggregated_done import AggregatedDone
from .aggregated_done_failed import AggregatedDoneFailed
from .aggregated_failed import AggregatedFailed
from .aggregates_result import AggregatesResult
from .aggregates_result_failed import AggregatesResultFailed
from .aggregator import Aggregator
from .alert import Alert
from .alert_deleted import AlertDeleted
from .alert_delivery import AlertDelivery
from .alert_delivery_state import AlertDeliveryState
from .alert_list import AlertList
from .alert_match import AlertMatch
from .alert_match_list import AlertMatchList
from .alert_match_verdict import AlertMatchVerdict
from .alert_request import AlertRequest
from .alert_retry import AlertRetry
from .alert_test import AlertTest
from .alert_update_request import AlertUpdateRequest
from .alerts_result import AlertsResult
from .all_aggregates import AllAggregates
from .all_aggregates_aggregates import AllAggregatesAggregates
from .analyzers import Analyzers
from .annotate_request import AnnotateRequest
from .appearance import Appearance
from .appearance_kind import AppearanceKind
from .ask_request import AskRequest
from .ask_response import AskResponse
from .ask_response_sources import AskResponseSources
from .audited_sentence import AuditedSentence
from .bin_ import Bin
from .bin_change_kind import BinChangeKind
from .bin_changed import BinChanged
from .bin_deleted import BinDeleted
from .bin_list import BinList
from .bin_order import BinOrder
from .bin_request import BinRequest
from .bin_share_request import BinShareRequest
from .bin_update_request import BinUpdateRequest
from .boundary import Boundary
from .change_accepted import ChangeAccepted
from .checked_answer import CheckedAnswer
from .chunk import Chunk
from .chunk_page import ChunkPage
from .chunking_schema import ChunkingSchema
from .chunking_schema_detectors import ChunkingSchemaDetectors
from .chunking_schema_modes import ChunkingSchemaModes
from .chunking_schema_presets import ChunkingSchemaPresets
from .collection import Collection
from .collection_list import CollectionList
from .collection_result import CollectionResult
from .collection_videos import CollectionVideos
from .comment import Comment
from .comment_deleted import CommentDeleted
from .comment_list import CommentList
from .comment_request import CommentRequest
from .comment_update_request import CommentUpdateRequest
from .comparison import Comparison
from .configuration_result import ConfigurationResult
from .correction import Correction
from .correction_of import CorrectionOf
from .correction_request import CorrectionRequest
from .corrections import Corrections
from .default_video_output import DefaultVideoOutput
from .deleted import Deleted
from .deleted_evaluation import DeletedEvaluation
from .detector import Detector
from .diagnostics import Diagnostics
from .diagnostics_found_by_others import DiagnosticsFoundByOthers
from .diagnostics_hits_without_filter import DiagnosticsHitsWithoutFilter
from .diarization_output import DiarizationOutput
from .entity import Entity
from .entity_list import EntityList
from .evaluation import Evaluation
from .evaluation_counts import EvaluationCounts
from .evaluation_latency import EvaluationLatency
from .evaluation_list import EvaluationList
from .evaluation_metric import EvaluationMetric
from .evaluation_metrics import EvaluationMetrics
from .evaluation_request import EvaluationRequest
from .evaluation_result import EvaluationResult
from .evaluation_run import EvaluationRun
from .evaluation_run_accepted import EvaluationRunAccepted
from .evaluation_run_list import EvaluationRunList
from .evaluation_run_request import EvaluationRunRequest
from .evaluation_run_summary import EvaluationRunSummary
from .evaluation_summary import EvaluationSummary
from .evidence_request import EvidenceRequest
from .evidence_response import EvidenceResponse
from .expected import Expected
from .extractor_detail import ExtractorDetail
from .extractor_list import ExtractorList
from .extractor_request import ExtractorRequest
from .failed_delivery import FailedDelivery
from .filter_ import Filter
from .filter_value import FilterValue
from .forgotten_extractor import ForgottenExtractor
from .full_result import FullResult
from .full_result_certainty import FullResultCertainty
from .health import Health
from .health_see_more import HealthSeeMore
from .health_status import HealthStatus
from .health_unavailable import HealthUnavailable
from .ingest_accepted import IngestAccepted
from .ingest_file_body import IngestFileBody
from .ingest_file_body_mode import IngestFileBodyMode
from .ingest_file_body_preset import IngestFileBodyPreset
from .ingest_result import IngestResult
from .ingest_result_indexed import IngestResultIndexed
from .ingest_result_profile import IngestResultProfile
from .interval_proof import IntervalProof
from .interval_request import IntervalRequest
from .interval_span import IntervalSpan
from .intervals import Intervals
from .intervals_not_analyzed import IntervalsNotAnalyzed
from .job import Job
from .job_list import JobList
from .job_status import JobStatus
from .judged_hit import JudgedHit
from .judged_question import JudgedQuestion
from .judgement import Judgement
from .language_span import LanguageSpan
from .library_request import LibraryRequest
from .lost_judgement import LostJudgement
from .mark_read_request import MarkReadRequest
from .mark_read_result import MarkReadResult
from .match_judgement_request import MatchJudgementRequest
from .minimal_result import MinimalResult
from .missing_moment import MissingMoment
from .missing_videos import MissingVideos
from .model_cost import ModelCost
from .model_usage import ModelUsage
from .moment import Moment
from .moment_chunk import MomentChunk
from .moment_chunk_outputs import MomentChunkOutputs
from .moment_detail import MomentDetail
from .move_selects_request import MoveSelectsRequest
from .neighbour import Neighbour
from .new_correction import NewCorrection
from .not_analyzed import NotAnalyzed
from .object_detection_output import ObjectDetectionOutput
from .ocr_output import OcrOutput
from .one_aggregate import OneAggregate
from .other_people import OtherPeople
from .peaks import Peaks
from .people_list import PeopleList
from .people_output import PeopleOutput
from .person import Person
from .person_page import PersonPage
from .plan import Plan
from .plan_aggregators import PlanAggregators
from .plan_analyzers import PlanAnalyzers
from .plan_request import PlanRequest
from .presentation import Presentation
from .presentation_chart import PresentationChart
from .presentation_lane import PresentationLane
from .presentation_tab import PresentationTab
from .presentation_track import PresentationTrack
from .presentations import Presentations
from .preset_schema import PresetSchema
from .preset_schema_weights import PresetSchemaWeights
from .preview import Preview
from .preview_request import PreviewRequest
from .probable_moment import ProbableMoment
from .proof_moment import ProofMoment
from .query_request import QueryRequest
from .query_request_detail import QueryRequestDetail
from .query_request_field import QueryRequestField
from .query_request_filters import QueryRequestFilters
from .query_response import QueryResponse
from .question_outcome import QuestionOutcome
from .question_result import QuestionResult
from .question_result_results import QuestionResultResults
from .read_moments import ReadMoments
from .read_request import ReadRequest
from .remove_selects_request import RemoveSelectsRequest
from .rename_request import RenameRequest
from .rename_tag_request import RenameTagRequest
from .rerun_accepted import RerunAccepted
from .rerun_form import RerunForm
from .says import Says
from .says_kind import SaysKind
from .schema import Schema
from .schema_aggregators import SchemaAggregators
from .schema_detail_levels import SchemaDetailLevels
from .schema_filter_analyzers import SchemaFilterAnalyzers
from .schema_filters import SchemaFilters
from .schema_metadata_keys import SchemaMetadataKeys
from .schema_modes import SchemaModes
from .schema_outputs import SchemaOutputs
from .schema_recommended_thresholds import SchemaRecommendedThresholds
from .schema_recommended_thresholds_by_analyzer import (
    SchemaRecommendedThresholdsByAnalyzer,
)
from .schema_recommended_thresholds_by_analyzer_additional_property import (
    SchemaRecommendedThresholdsByAnalyzerAdditionalProperty,
)
from .schema_results import SchemaResults
from .schema_vector_fields import SchemaVectorFields
from .search_configuration import SearchConfiguration
from .select import Select
from .select_list import SelectList
from .select_request import SelectRequest
from .select_update_request import SelectUpdateRequest
from .server_sent_event import ServerSentEvent
from .share import Share
from .share_list import ShareList
from .share_part import SharePart
from .share_request import ShareRequest
from .share_withdrawn import ShareWithdrawn
from .sources import Sources
from .split_request import SplitRequest
from .spoken_word import SpokenWord
from .stage import Stage
from .standard_result import StandardResult
from .standard_result_certainty import StandardResultCertainty
from .step_cost import StepCost
from .storage_health import StorageHealth
from .storyboard import Storyboard
from .timeline import Timeline
from .transcript import Transcript
from .transcript_output import TranscriptOutput
from .turn import Turn
from .unanalyzed_part import UnanalyzedPart
from .unreadable_video import UnreadableVideo
from .url_ingest_request import UrlIngestRequest
from .url_ingest_request_mode import UrlIngestRequestMode
from .url_ingest_request_preset import UrlIngestRequestPreset
from .utterance import Utterance
from .values import Values
from .verdict import Verdict
from .video import Video
from .video_detail import VideoDetail
from .video_intervals import VideoIntervals
from .video_list import VideoList
from .vote import Vote

__all__ = (
    "Activity",
    "ActivityKind",
    "ActivityList",
    "AddSelectsRequest",
    "AggregatedDone",
    "AggregatedDoneFailed",
    "AggregatedFailed",
    "AggregatesResult",
    "AggregatesResultFailed",
    "Aggregator",
    "Alert",
    "AlertDeleted",
    "AlertDelivery",
    "AlertDeliveryState",
    "AlertList",
    "AlertMatch",
    "AlertMatchList",
    "AlertMatchVerdict",
    "AlertRequest",
    "AlertRetry",
    "AlertsResult",
    "AlertTest",
    "AlertUpdateRequest",
    "AllAggregates",
    "AllAggregatesAggregates",
    "Analyzers",
    "AnnotateRequest",
    "Appearance",
    "AppearanceKind",
    "AskRequest",
    "AskResponse",
    "AskResponseSources",
    "AuditedSentence",
    "Bin",
    "BinChanged",
    "BinChangeKind",
    "BinDeleted",
    "BinList",
    "BinOrder",
    "BinRequest",
    "BinShareRequest",
    "BinUpdateRequest",
    "Boundary",
    "ChangeAccepted",
    "CheckedAnswer",
    "Chunk",
    "ChunkingSchema",
    "ChunkingSchemaDetectors",
    "ChunkingSchemaModes",
    "ChunkingSchemaPresets",
    "ChunkPage",
    "Collection",
    "CollectionList",
    "CollectionResult",
    "CollectionVideos",
    "Comment",
    "CommentDeleted",
    "CommentList",
    "CommentRequest",
    "CommentUpdateRequest",
    "Comparison",
    "ConfigurationResult",
    "Correction",
    "CorrectionOf",
    "CorrectionRequest",
    "Corrections",
    "DefaultVideoOutput",
    "Deleted",
    "DeletedEvaluation",
    "Detector",
    "Diagnostics",
    "DiagnosticsFoundByOthers",
    "DiagnosticsHitsWithoutFilter",
    "DiarizationOutput",
    "Entity",
    "EntityList",
    "Evaluation",
    "EvaluationCounts",
    "EvaluationLatency",
    "EvaluationList",
    "EvaluationMetric",
    "EvaluationMetrics",
    "EvaluationRequest",
    "EvaluationResult",
    "EvaluationRun",
    "EvaluationRunAccepted",
    "EvaluationRunList",
    "EvaluationRunRequest",
    "EvaluationRunSummary",
    "EvaluationSummary",
    "EvidenceRequest",
    "EvidenceResponse",
    "Expected",
    "ExtractorDetail",
    "ExtractorList",
    "ExtractorRequest",
    "FailedDelivery",
    "Filter",
    "FilterValue",
    "ForgottenExtractor",
    "FullResult",
    "FullResultCertainty",
    "Health",
    "HealthSeeMore",
    "HealthStatus",
    "HealthUnavailable",
    "IngestAccepted",
    "IngestFileBody",
    "IngestFileBodyMode",
    "IngestFileBodyPreset",
    "IngestResult",
    "IngestResultIndexed",
    "IngestResultProfile",
    "IntervalProof",
    "IntervalRequest",
    "Intervals",
    "IntervalsNotAnalyzed",
    "IntervalSpan",
    "Job",
    "JobList",
    "JobStatus",
    "JudgedHit",
    "JudgedQuestion",
    "Judgement",
    "LanguageSpan",
    "LibraryRequest",
    "LostJudgement",
    "MarkReadRequest",
    "MarkReadResult",
    "MatchJudgementRequest",
    "MinimalResult",
    "MissingMoment",
    "MissingVideos",
    "ModelCost",
    "ModelUsage",
    "Moment",
    "MomentChunk",
    "MomentChunkOutputs",
    "MomentDetail",
    "MoveSelectsRequest",
    "Neighbour",
    "NewCorrection",
    "NotAnalyzed",
    "ObjectDetectionOutput",
    "OcrOutput",
    "OneAggregate",
    "OtherPeople",
    "Peaks",
    "PeopleList",
    "PeopleOutput",
    "Person",
    "PersonPage",
    "Plan",
    "PlanAggregators",
    "PlanAnalyzers",
    "PlanRequest",
    "Presentation",
    "PresentationChart",
    "PresentationLane",
    "Presentations",
    "PresentationTab",
    "PresentationTrack",
    "PresetSchema",
    "PresetSchemaWeights",
    "Preview",
    "PreviewRequest",
    "ProbableMoment",
    "ProofMoment",
    "QueryRequest",
    "QueryRequestDetail",
    "QueryRequestField",
    "QueryRequestFilters",
    "QueryResponse",
    "QuestionOutcome",
    "QuestionResult",
    "QuestionResultResults",
    "ReadMoments",
    "ReadRequest",
    "RemoveSelectsRequest",
    "RenameRequest",
    "RenameTagRequest",
    "RerunAccepted",
    "RerunForm",
    "Says",
    "SaysKind",
    "Schema",
    "SchemaAggregators",
    "SchemaDetailLevels",
    "SchemaFilterAnalyzers",
    "SchemaFilters",
    "SchemaMetadataKeys",
    "SchemaModes",
    "SchemaOutputs",
    "SchemaRecommendedThresholds",
    "SchemaRecommendedThresholdsByAnalyzer",
    "SchemaRecommendedThresholdsByAnalyzerAdditionalProperty",
    "SchemaResults",
    "SchemaVectorFields",
    "SearchConfiguration",
    "Select",
    "SelectList",
    "SelectRequest",
    "SelectUpdateRequest",
    "ServerSentEvent",
    "Share",
    "ShareList",
    "SharePart",
    "ShareRequest",
    "ShareWithdrawn",
    "Sources",
    "SplitRequest",
    "SpokenWord",
    "Stage",
    "StandardResult",
    "StandardResultCertainty",
    "StepCost",
    "StorageHealth",
    "Storyboard",
    "Timeline",
    "Transcript",
    "TranscriptOutput",
    "Turn",
    "UnanalyzedPart",
    "UnreadableVideo",
    "UrlIngestRequest",
    "UrlIngestRequestMode",
    "UrlIngestRequestPreset",
    "Utterance",
    "Values",
    "Verdict",
    "Video",
    "VideoDetail",
    "VideoIntervals",
    "VideoList",
    "Vote",
)
