from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.values import Values
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    field: str,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 20,
    video_ids: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    filters: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["field"] = field

    params["prefix"] = prefix

    params["limit"] = limit

    params["video_ids"] = video_ids

    params["analyzer"] = analyzer

    params["filters"] = filters

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/values",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Values | None:
    if response.status_code == 200:
        response_200 = Values.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Values]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    field: str,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 20,
    video_ids: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    filters: str | Unset = UNSET,
) -> Response[Values]:
    """List filter values.

     Returns the values that occur for a filter, most frequent first.

    Args:
        field (str):
        prefix (str | Unset):
        limit (int | Unset):  Default: 20.
        video_ids (str | Unset):
        analyzer (str | Unset):
        filters (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Values]
    """

    kwargs = _get_kwargs(
        field=field,
        prefix=prefix,
        limit=limit,
        video_ids=video_ids,
        analyzer=analyzer,
        filters=filters,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    field: str,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 20,
    video_ids: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    filters: str | Unset = UNSET,
) -> Values | None:
    """List filter values.

     Returns the values that occur for a filter, most frequent first.

    Args:
        field (str):
        prefix (str | Unset):
        limit (int | Unset):  Default: 20.
        video_ids (str | Unset):
        analyzer (str | Unset):
        filters (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Values
    """

    return sync_detailed(
        client=client,
        field=field,
        prefix=prefix,
        limit=limit,
        video_ids=video_ids,
        analyzer=analyzer,
        filters=filters,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    field: str,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 20,
    video_ids: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    filters: str | Unset = UNSET,
) -> Response[Values]:
    """List filter values.

     Returns the values that occur for a filter, most frequent first.

    Args:
        field (str):
        prefix (str | Unset):
        limit (int | Unset):  Default: 20.
        video_ids (str | Unset):
        analyzer (str | Unset):
        filters (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Values]
    """

    kwargs = _get_kwargs(
        field=field,
        prefix=prefix,
        limit=limit,
        video_ids=video_ids,
        analyzer=analyzer,
        filters=filters,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    field: str,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 20,
    video_ids: str | Unset = UNSET,
    analyzer: str | Unset = UNSET,
    filters: str | Unset = UNSET,
) -> Values | None:
    """List filter values.

     Returns the values that occur for a filter, most frequent first.

    Args:
        field (str):
        prefix (str | Unset):
        limit (int | Unset):  Default: 20.
        video_ids (str | Unset):
        analyzer (str | Unset):
        filters (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Values
    """

    return (
        await asyncio_detailed(
            client=client,
            field=field,
            prefix=prefix,
            limit=limit,
            video_ids=video_ids,
            analyzer=analyzer,
            filters=filters,
        )
    ).parsed
