from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.mark_read_request import MarkReadRequest
from ...models.mark_read_result import MarkReadResult
from ...types import Response


def _get_kwargs(
    *,
    body: MarkReadRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/inbox/read",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> MarkReadResult | None:
    if response.status_code == 200:
        response_200 = MarkReadResult.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[MarkReadResult]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: MarkReadRequest,
) -> Response[MarkReadResult]:
    """Mark matches of all alerts as read or unread.

     Marking a match again changes nothing. Returns 422 unless exactly one of `match_ids` and
    `until` is set.

    Args:
        body (MarkReadRequest): The matches to mark: either `match_ids` or `until`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MarkReadResult]
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
    body: MarkReadRequest,
) -> MarkReadResult | None:
    """Mark matches of all alerts as read or unread.

     Marking a match again changes nothing. Returns 422 unless exactly one of `match_ids` and
    `until` is set.

    Args:
        body (MarkReadRequest): The matches to mark: either `match_ids` or `until`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MarkReadResult
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: MarkReadRequest,
) -> Response[MarkReadResult]:
    """Mark matches of all alerts as read or unread.

     Marking a match again changes nothing. Returns 422 unless exactly one of `match_ids` and
    `until` is set.

    Args:
        body (MarkReadRequest): The matches to mark: either `match_ids` or `until`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[MarkReadResult]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: MarkReadRequest,
) -> MarkReadResult | None:
    """Mark matches of all alerts as read or unread.

     Marking a match again changes nothing. Returns 422 unless exactly one of `match_ids` and
    `until` is set.

    Args:
        body (MarkReadRequest): The matches to mark: either `match_ids` or `until`.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        MarkReadResult
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
