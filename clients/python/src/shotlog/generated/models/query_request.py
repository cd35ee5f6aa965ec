from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.query_request_detail import QueryRequestDetail, check_query_request_detail
from ..models.query_request_field import QueryRequestField, check_query_request_field
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.query_request_filters import QueryRequestFilters


T = TypeVar("T", bound="QueryRequest")


@_attrs_define
class QueryRequest:
    """
    Attributes:
        text (None | str): Search text. Null if `like`, `image` or `order` is used instead.
        like (str | Unset): Id of a moment, given instead of `text`. Finds chunks that are similar to the chunk that
            overlaps the moment most. Similarity is measured by comparing vectors in `field`. Only the
            output of one analyzer is compared. If `analyzer` is `*`, this is the first analyzer that
            has output for the chunk, in the order visual content, people, speech, objects, on-screen
            text. With the field `visual`, pictures are compared; a moment without vectors of pictures is
            represented by its middle frame. The chunk itself is not returned. Results have a `score` but
            no `p_present`.
        image (str | Unset): Picture, given instead of `text`, as a data URL (`data:image/jpeg;base64,…`) of a JPEG, PNG
            or
            WebP. Finds chunks whose frames look like it. Only the field `visual` is compared. Results
            have a `score` but no `p_present`.
        region (list[float] | Unset): The part of `image` to search for: `[x, y, width, height]`, in shares of its width
            and height
            (0..1).
        order (str | Unset): Sort order, given instead of `text`. `newest` lists all chunks that match the filters,
            newest video first and in chronological order within each video. The `score` of each result
            is null, and there is no `p_present`. `field` is ignored.
        mode (None | str | Unset): Search mode. `vector`: by meaning. `text`: BM25 over speech, on-screen text and
            descriptions; quoted words are searched as a phrase. `hybrid`: both, merged by reciprocal
            rank fusion. Null: `vector` for one analyzer, `hybrid` for `*`.
        video_ids (list[str] | None | Unset): Ids of the videos to search. Null: all videos.
        analyzer (str | Unset): Id of the analyzer whose output is searched. `*` searches the output of all analyzers:
            hits
            on the same chunk are merged and ranked by `p_present`, and `found_by` lists the analyzers
            whose output matched. Default: `default_video`. Default: 'default_video'.
        field (QueryRequestField | Unset): Vector field to search, one of the `vector_fields` in `GET /schema`. Default:
            `combined`. Default: 'combined'.
        limit (int | Unset): Maximum number of results. Default: 5. Default: 5.
        score_threshold (float | None | Unset): Minimum `score` of a hit, from 0 to 1, in every mode. `GET /schema`
            recommends a value for
            each field. Null: no minimum.
        min_p_present (float | None | Unset): Minimum `p_present` of a hit, from 0 to 1. `p_present` is calibrated and
            comparable across
            fields and analyzers. Null: no minimum.
        rerank (bool | Unset): Whether to re-rank hits with a model that reads the question and the text together.
            `p_present` is then the probability that a hit answers the question, not just that it has
            the same topic. Re-ranking takes a few milliseconds per sentence. It has no effect if the
            install has no reranker or the query has only a few words. Default: false. Default: False.
        synthesize (bool | Unset): Whether to generate an answer from the hits. Default: true. Default: True.
        detail (QueryRequestDetail | Unset): Level of detail: `minimal`, `standard` or `full`. Default: `standard`.
            Default: 'standard'.
        filters (QueryRequestFilters | Unset): Hard filters that must all match. For a list of values, any one matches.
        max_tokens (int | None | Unset): Maximum number of tokens in all results together; the response contains only
            whole results,
            in order. Null: no limit.
        cursor (None | str | Unset): `next` from the previous response. A cursor from a different request is rejected
            with 400.
        pages (bool | Unset): Whether `next` leads to further pages beyond `limit`. A listing can be paged to its end, a
            search up to `search.page_window` results (500 by default). As long as the library does not
            change, no result is repeated or skipped. An answer is generated only for the first page.
            Default: false. Default: False.
    """

    text: None | str
    like: str | Unset = UNSET
    image: str | Unset = UNSET
    region: list[float] | Unset = UNSET
    order: str | Unset = UNSET
    mode: None | str | Unset = UNSET
    video_ids: list[str] | None | Unset = UNSET
    analyzer: str | Unset = "default_video"
    field: QueryRequestField | Unset = "combined"
    limit: int | Unset = 5
    score_threshold: float | None | Unset = UNSET
    min_p_present: float | None | Unset = UNSET
    rerank: bool | Unset = False
    synthesize: bool | Unset = True
    detail: QueryRequestDetail | Unset = "standard"
    filters: QueryRequestFilters | Unset = UNSET
    max_tokens: int | None | Unset = UNSET
    cursor: None | str | Unset = UNSET
    pages: bool | Unset = False

    def to_dict(self) -> dict[str, Any]:
        text: None | str
        text = self.text

        like = self.like

        image = self.image

        region: list[float] | Unset = UNSET
        if not isinstance(self.region, Unset):
            region = self.region

        order = self.order

        mode: None | str | Unset
        if isinstance(self.mode, Unset):
            mode = UNSET
        else:
            mode = self.mode

        video_ids: list[str] | None | Unset
        if isinstance(self.video_ids, Unset):
            video_ids = UNSET
        elif isinstance(self.video_ids, list):
            video_ids = self.video_ids

        else:
            video_ids = self.video_ids

        analyzer = self.analyzer

        field: str | Unset = UNSET
        if not isinstance(self.field, Unset):
            field = self.field

        limit = self.limit

        score_threshold: float | None | Unset
        if isinstance(self.score_threshold, Unset):
            score_threshold = UNSET
        else:
            score_threshold = self.score_threshold

        min_p_present: float | None | Unset
        if isinstance(self.min_p_present, Unset):
            min_p_present = UNSET
        else:
            min_p_present = self.min_p_present

        rerank = self.rerank

        synthesize = self.synthesize

        detail: str | Unset = UNSET
        if not isinstance(self.detail, Unset):
            detail = self.detail

        filters: dict[str, Any] | Unset = UNSET
        if not isinstance(self.filters, Unset):
            filters = self.filters.to_dict()

        max_tokens: int | None | Unset
        if isinstance(self.max_tokens, Unset):
            max_tokens = UNSET
        else:
            max_tokens = self.max_tokens

        cursor: None | str | Unset
        if isinstance(self.cursor, Unset):
            cursor = UNSET
        else:
            cursor = self.cursor

        pages = self.pages

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "text": text,
            }
        )
        if like is not UNSET:
            field_dict["like"] = like
        if image is not UNSET:
            field_dict["image"] = image
        if region is not UNSET:
            field_dict["region"] = region
        if order is not UNSET:
            field_dict["order"] = order
        if mode is not UNSET:
            field_dict["mode"] = mode
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if analyzer is not UNSET:
            field_dict["analyzer"] = analyzer
        if field is not UNSET:
            field_dict["field"] = field
        if limit is not UNSET:
            field_dict["limit"] = limit
        if score_threshold is not UNSET:
            field_dict["score_threshold"] = score_threshold
        if min_p_present is not UNSET:
            field_dict["min_p_present"] = min_p_present
        if rerank is not UNSET:
            field_dict["rerank"] = rerank
        if synthesize is not UNSET:
            field_dict["synthesize"] = synthesize
        if detail is not UNSET:
            field_dict["detail"] = detail
        if filters is not UNSET:
            field_dict["filters"] = filters
        if max_tokens is not UNSET:
            field_dict["max_tokens"] = max_tokens
        if cursor is not UNSET:
            field_dict["cursor"] = cursor
        if pages is not UNSET:
            field_dict["pages"] = pages

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.query_request_filters import QueryRequestFilters  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        text = _parse_text(d.pop("text"))

        like = d.pop("like", UNSET)

        image = d.pop("image", UNSET)

        region = cast(list[float], d.pop("region", UNSET))

        order = d.pop("order", UNSET)

        def _parse_mode(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        mode = _parse_mode(d.pop("mode", UNSET))

        def _parse_video_ids(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                video_ids_type_0 = cast(list[str], data)

                return video_ids_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        video_ids = _parse_video_ids(d.pop("video_ids", UNSET))

        analyzer = d.pop("analyzer", UNSET)

        _field = d.pop("field", UNSET)
        field: QueryRequestField | Unset
        if isinstance(_field, Unset):
            field = UNSET
        else:
            field = check_query_request_field(_field)

        limit = d.pop("limit", UNSET)

        def _parse_score_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        score_threshold = _parse_score_threshold(d.pop("score_threshold", UNSET))

        def _parse_min_p_present(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        min_p_present = _parse_min_p_present(d.pop("min_p_present", UNSET))

        rerank = d.pop("rerank", UNSET)

        synthesize = d.pop("synthesize", UNSET)

        _detail = d.pop("detail", UNSET)
        detail: QueryRequestDetail | Unset
        if isinstance(_detail, Unset):
            detail = UNSET
        else:
            detail = check_query_request_detail(_detail)

        _filters = d.pop("filters", UNSET)
        filters: QueryRequestFilters | Unset
        if isinstance(_filters, Unset):
            filters = UNSET
        else:
            filters = QueryRequestFilters.from_dict(_filters)

        def _parse_max_tokens(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_tokens = _parse_max_tokens(d.pop("max_tokens", UNSET))

        def _parse_cursor(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        cursor = _parse_cursor(d.pop("cursor", UNSET))

        pages = d.pop("pages", UNSET)

        query_request = cls(
            text=text,
            like=like,
            image=image,
            region=region,
            order=order,
            mode=mode,
            video_ids=video_ids,
            analyzer=analyzer,
            field=field,
            limit=limit,
            score_threshold=score_threshold,
            min_p_present=min_p_present,
            rerank=rerank,
            synthesize=synthesize,
            detail=detail,
            filters=filters,
            max_tokens=max_tokens,
            cursor=cursor,
            pages=pages,
        )

        return query_request
