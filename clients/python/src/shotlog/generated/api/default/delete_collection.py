from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.change_accepted import ChangeAccepted
from ...models.collection_videos import CollectionVideos
from ...types import UNSET, Response


def _get_kwargs(
    name: str,
    *,
    videos: CollectionVideos,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_videos: str = videos
    params["videos"] = json_videos

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/collections/{name}".format(
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ChangeAccepted | None:
    if response.status_code == 202:
        response_202 = ChangeAccepted.from_dict(response.json())

        return response_202

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ChangeAccepted]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    videos: CollectionVideos,
) -> Response[ChangeAccepted]:
    """Delete a collection.

     Starts a job that deletes the collection's videos or keeps them without a collection. In the
    first case, the collection's bins stay in it; otherwise, they are kept without a collection.

    Args:
        name (str):
        videos (CollectionVideos):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ChangeAccepted]
    """

    kwargs = _get_kwargs(
        name=name,
        videos=videos,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    videos: CollectionVideos,
) -> ChangeAccepted | None:
    """Delete a collection.

     Starts a job that deletes the collection's videos or keeps them without a collection. In the
    first case, the collection's bins stay in it; otherwise, they are kept without a collection.

    Args:
        name (str):
        videos (CollectionVideos):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ChangeAccepted
    """

    return sync_detailed(
        name=name,
        client=client,
        videos=videos,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    videos: CollectionVideos,
) -> Response[ChangeAccepted]:
    """Delete a collection.

     Starts a job that deletes the collection's videos or keeps them without a collection. In the
    first case, the collection's bins stay in it; otherwise, they are kept without a collection.

    Args:
        name (str):
        videos (CollectionVideos):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ChangeAccepted]
    """

    kwargs = _get_kwargs(
        name=name,
        videos=videos,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    videos: CollectionVideos,
) -> ChangeAccepted | None:
    """Delete a collection.

     Starts a job that deletes the collection's videos or keeps them without a collection. In the
    first case, the collection's bins stay in it; otherwise, they are kept without a collection.

    Args:
        name (str):
        videos (CollectionVideos):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ChangeAccepted
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            videos=videos,
        )
    ).parsed
