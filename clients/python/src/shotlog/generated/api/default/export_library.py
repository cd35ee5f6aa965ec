from http import HTTPStatus
from io import BytesIO
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.library_request import LibraryRequest
from ...types import File, Response


def _get_kwargs(
    *,
    body: LibraryRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/export",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> File | None:
    if response.status_code == 200:
        response_200 = File(payload=BytesIO(response.text))

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[File]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: LibraryRequest,
) -> Response[File]:
    """Export chunks of many videos.

     Returns one line for each chunk that matches the filters, newest video first. A line
    includes the video and the `moment_id`. `csv` has the columns of every installed analyzer;
    `jsonl` has one JSON object per line. The file is streamed, so it is incomplete if the
    connection ends early.

    Args:
        body (LibraryRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[File]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: LibraryRequest,
) -> File | None:
    """Export chunks of many videos.

     Returns one line for each chunk that matches the filters, newest video first. A line
    includes the video and the `moment_id`. `csv` has the columns of every installed analyzer;
    `jsonl` has one JSON object per line. The file is streamed, so it is incomplete if the
    connection ends early.

    Args:
        body (LibraryRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        File
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: LibraryRequest,
) -> Response[File]:
    """Export chunks of many videos.

     Returns one line for each chunk that matches the filters, newest video first. A line
    includes the video and the `moment_id`. `csv` has the columns of every installed analyzer;
    `jsonl` has one JSON object per line. The file is streamed, so it is incomplete if the
    connection ends early.

    Args:
        body (LibraryRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[File]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: LibraryRequest,
) -> File | None:
    """Export chunks of many videos.

     Returns one line for each chunk that matches the filters, newest video first. A line
    includes the video and the `moment_id`. `csv` has the columns of every installed analyzer;
    `jsonl` has one JSON object per line. The file is streamed, so it is incomplete if the
    connection ends early.

    Args:
        body (LibraryRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        File
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
