from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.correction_request import CorrectionRequest
from ...models.corrections import Corrections
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    body: CorrectionRequest,
    aggregate: bool | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["aggregate"] = aggregate

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/videos/{video_id}/corrections".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Corrections | None:
    if response.status_code == 200:
        response_200 = Corrections.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Corrections]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CorrectionRequest,
    aggregate: bool | Unset = UNSET,
) -> Response[Corrections]:
    """Correct speakers, words, on-screen text, people or titles of chapters.

     Applies all corrections or none. Corrections override model output in reads, exports,
    searches and answers. They also apply after the video is chunked or analyzed again, wherever
    the models again produce the text that was corrected. A job recomputes the aggregates.
    Titles of chapters are corrected without recomputing anything. Returns 400 if a correction
    matches nothing.

    Args:
        video_id (str):
        aggregate (bool | Unset):
        body (CorrectionRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Corrections]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
        aggregate=aggregate,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CorrectionRequest,
    aggregate: bool | Unset = UNSET,
) -> Corrections | None:
    """Correct speakers, words, on-screen text, people or titles of chapters.

     Applies all corrections or none. Corrections override model output in reads, exports,
    searches and answers. They also apply after the video is chunked or analyzed again, wherever
    the models again produce the text that was corrected. A job recomputes the aggregates.
    Titles of chapters are corrected without recomputing anything. Returns 400 if a correction
    matches nothing.

    Args:
        video_id (str):
        aggregate (bool | Unset):
        body (CorrectionRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Corrections
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        body=body,
        aggregate=aggregate,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CorrectionRequest,
    aggregate: bool | Unset = UNSET,
) -> Response[Corrections]:
    """Correct speakers, words, on-screen text, people or titles of chapters.

     Applies all corrections or none. Corrections override model output in reads, exports,
    searches and answers. They also apply after the video is chunked or analyzed again, wherever
    the models again produce the text that was corrected. A job recomputes the aggregates.
    Titles of chapters are corrected without recomputing anything. Returns 400 if a correction
    matches nothing.

    Args:
        video_id (str):
        aggregate (bool | Unset):
        body (CorrectionRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Corrections]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        body=body,
        aggregate=aggregate,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CorrectionRequest,
    aggregate: bool | Unset = UNSET,
) -> Corrections | None:
    """Correct speakers, words, on-screen text, people or titles of chapters.

     Applies all corrections or none. Corrections override model output in reads, exports,
    searches and answers. They also apply after the video is chunked or analyzed again, wherever
    the models again produce the text that was corrected. A job recomputes the aggregates.
    Titles of chapters are corrected without recomputing anything. Returns 400 if a correction
    matches nothing.

    Args:
        video_id (str):
        aggregate (bool | Unset):
        body (CorrectionRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Corrections
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            body=body,
            aggregate=aggregate,
        )
    ).parsed
