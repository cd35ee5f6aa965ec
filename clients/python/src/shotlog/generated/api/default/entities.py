from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.entity_list import EntityList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    min_appearances: int | Unset = 1,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["min_appearances"] = min_appearances

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/entities".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> EntityList | None:
    if response.status_code == 200:
        response_200 = EntityList.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[EntityList]:
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
    min_appearances: int | Unset = 1,
) -> Response[EntityList]:
    """List people linked across chunks.

     Requires the `people` analyzer and the `entities` aggregator.

    Args:
        video_id (str):
        min_appearances (int | Unset):  Default: 1.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EntityList]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        min_appearances=min_appearances,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    min_appearances: int | Unset = 1,
) -> EntityList | None:
    """List people linked across chunks.

     Requires the `people` analyzer and the `entities` aggregator.

    Args:
        video_id (str):
        min_appearances (int | Unset):  Default: 1.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EntityList
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        min_appearances=min_appearances,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    min_appearances: int | Unset = 1,
) -> Response[EntityList]:
    """List people linked across chunks.

     Requires the `people` analyzer and the `entities` aggregator.

    Args:
        video_id (str):
        min_appearances (int | Unset):  Default: 1.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EntityList]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        min_appearances=min_appearances,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    min_appearances: int | Unset = 1,
) -> EntityList | None:
    """List people linked across chunks.

     Requires the `people` analyzer and the `entities` aggregator.

    Args:
        video_id (str):
        min_appearances (int | Unset):  Default: 1.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EntityList
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            min_appearances=min_appearances,
        )
    ).parsed
