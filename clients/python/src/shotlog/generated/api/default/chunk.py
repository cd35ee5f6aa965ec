from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.chunk import Chunk
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    chunk_id: int,
    *,
    verbose: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["verbose"] = verbose

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/chunks/{chunk_id}".format(
            video_id=quote(str(video_id), safe=""),
            chunk_id=quote(str(chunk_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Chunk | None:
    if response.status_code == 200:
        response_200 = Chunk.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Chunk]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    video_id: str,
    chunk_id: int,
    *,
    client: AuthenticatedClient | Client,
    verbose: bool | Unset = False,
) -> Response[Chunk]:
    """Get a chunk.

     Returns the output of all analyzers for the chunk.

    Args:
        video_id (str):
        chunk_id (int):
        verbose (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Chunk]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        chunk_id=chunk_id,
        verbose=verbose,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    chunk_id: int,
    *,
    client: AuthenticatedClient | Client,
    verbose: bool | Unset = False,
) -> Chunk | None:
    """Get a chunk.

     Returns the output of all analyzers for the chunk.

    Args:
        video_id (str):
        chunk_id (int):
        verbose (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Chunk
    """

    return sync_detailed(
        video_id=video_id,
        chunk_id=chunk_id,
        client=client,
        verbose=verbose,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    chunk_id: int,
    *,
    client: AuthenticatedClient | Client,
    verbose: bool | Unset = False,
) -> Response[Chunk]:
    """Get a chunk.

     Returns the output of all analyzers for the chunk.

    Args:
        video_id (str):
        chunk_id (int):
        verbose (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Chunk]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        chunk_id=chunk_id,
        verbose=verbose,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    chunk_id: int,
    *,
    client: AuthenticatedClient | Client,
    verbose: bool | Unset = False,
) -> Chunk | None:
    """Get a chunk.

     Returns the output of all analyzers for the chunk.

    Args:
        video_id (str):
        chunk_id (int):
        verbose (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Chunk
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            chunk_id=chunk_id,
            client=client,
            verbose=verbose,
        )
    ).parsed
