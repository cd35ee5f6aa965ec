from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.bin_list import BinList
from ...models.bin_order import BinOrder
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    order: BinOrder | Unset = "name",
    collection: str | Unset = UNSET,
    video_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_order: str | Unset = UNSET
    if not isinstance(order, Unset):
        json_order = order

    params["order"] = json_order

    params["collection"] = collection

    params["video_id"] = video_id

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/bins",
        "params": params,
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> BinList | None:
    if response.status_code == 200:
        response_200 = BinList.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[BinList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    order: BinOrder | Unset = "name",
    collection: str | Unset = UNSET,
    video_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[BinList]:
    """List bins.

     A bin is a named, ordered list of selects, which are spans of videos. Each bin is listed with
    the number and the total duration of its selects. With `video_id`, the list has the bins that
    use a video, and the number of its selects in them.

    Args:
        order (BinOrder | Unset): An order of bins. Default: 'name'.
        collection (str | Unset):
        video_id (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BinList]
    """

    kwargs = _get_kwargs(
        order=order,
        collection=collection,
        video_id=video_id,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    order: BinOrder | Unset = "name",
    collection: str | Unset = UNSET,
    video_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> BinList | None:
    """List bins.

     A bin is a named, ordered list of selects, which are spans of videos. Each bin is listed with
    the number and the total duration of its selects. With `video_id`, the list has the bins that
    use a video, and the number of its selects in them.

    Args:
        order (BinOrder | Unset): An order of bins. Default: 'name'.
        collection (str | Unset):
        video_id (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BinList
    """

    return sync_detailed(
        client=client,
        order=order,
        collection=collection,
        video_id=video_id,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    order: BinOrder | Unset = "name",
    collection: str | Unset = UNSET,
    video_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[BinList]:
    """List bins.

     A bin is a named, ordered list of selects, which are spans of videos. Each bin is listed with
    the number and the total duration of its selects. With `video_id`, the list has the bins that
    use a video, and the number of its selects in them.

    Args:
        order (BinOrder | Unset): An order of bins. Default: 'name'.
        collection (str | Unset):
        video_id (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[BinList]
    """

    kwargs = _get_kwargs(
        order=order,
        collection=collection,
        video_id=video_id,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    order: BinOrder | Unset = "name",
    collection: str | Unset = UNSET,
    video_id: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> BinList | None:
    """List bins.

     A bin is a named, ordered list of selects, which are spans of videos. Each bin is listed with
    the number and the total duration of its selects. With `video_id`, the list has the bins that
    use a video, and the number of its selects in them.

    Args:
        order (BinOrder | Unset): An order of bins. Default: 'name'.
        collection (str | Unset):
        video_id (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        BinList
    """

    return (
        await asyncio_detailed(
            client=client,
            order=order,
            collection=collection,
            video_id=video_id,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
