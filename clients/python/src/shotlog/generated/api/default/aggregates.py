from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.all_aggregates import AllAggregates
from ...models.one_aggregate import OneAggregate
from ...types import UNSET, Response, Unset


def _get_kwargs(
    video_id: str,
    *,
    aggregator: str | Unset = UNSET,
    max_tokens: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["aggregator"] = aggregator

    params["max_tokens"] = max_tokens

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/videos/{video_id}/aggregates".format(
            video_id=quote(str(video_id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AllAggregates | OneAggregate | None:
    if response.status_code == 200:

        def _parse_response_200(data: object) -> AllAggregates | OneAggregate:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_aggregates_response_type_0 = AllAggregates.from_dict(data)

                return componentsschemas_aggregates_response_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_aggregates_response_type_1 = OneAggregate.from_dict(data)

            return componentsschemas_aggregates_response_type_1

        response_200 = _parse_response_200(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AllAggregates | OneAggregate]:
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
    aggregator: str | Unset = UNSET,
    max_tokens: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[AllAggregates | OneAggregate]:
    """Get video-level results.

     Returns the results of all aggregators, or of the one in `aggregator`.

    Args:
        video_id (str):
        aggregator (str | Unset):
        max_tokens (int | Unset):
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AllAggregates | OneAggregate]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        aggregator=aggregator,
        max_tokens=max_tokens,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    aggregator: str | Unset = UNSET,
    max_tokens: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> AllAggregates | OneAggregate | None:
    """Get video-level results.

     Returns the results of all aggregators, or of the one in `aggregator`.

    Args:
        video_id (str):
        aggregator (str | Unset):
        max_tokens (int | Unset):
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AllAggregates | OneAggregate
    """

    return sync_detailed(
        video_id=video_id,
        client=client,
        aggregator=aggregator,
        max_tokens=max_tokens,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    aggregator: str | Unset = UNSET,
    max_tokens: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> Response[AllAggregates | OneAggregate]:
    """Get video-level results.

     Returns the results of all aggregators, or of the one in `aggregator`.

    Args:
        video_id (str):
        aggregator (str | Unset):
        max_tokens (int | Unset):
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AllAggregates | OneAggregate]
    """

    kwargs = _get_kwargs(
        video_id=video_id,
        aggregator=aggregator,
        max_tokens=max_tokens,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    video_id: str,
    *,
    client: AuthenticatedClient | Client,
    aggregator: str | Unset = UNSET,
    max_tokens: int | Unset = UNSET,
    cursor: str | Unset = UNSET,
) -> AllAggregates | OneAggregate | None:
    """Get video-level results.

     Returns the results of all aggregators, or of the one in `aggregator`.

    Args:
        video_id (str):
        aggregator (str | Unset):
        max_tokens (int | Unset):
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AllAggregates | OneAggregate
    """

    return (
        await asyncio_detailed(
            video_id=video_id,
            client=client,
            aggregator=aggregator,
            max_tokens=max_tokens,
            cursor=cursor,
        )
    ).parsed
