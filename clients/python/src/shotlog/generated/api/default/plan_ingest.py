from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.plan import Plan
from ...models.plan_request import PlanRequest
from ...types import Response


def _get_kwargs(
    *,
    body: PlanRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/videos/plan",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Plan | None:
    if response.status_code == 200:
        response_200 = Plan.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Plan]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: PlanRequest,
) -> Response[Plan]:
    """Estimate the cost of an ingest.

     Estimates how many chunks, model calls and tokens an ingest would require, how long it would
    take, and what it would reuse. The estimates are based on previous ingests on this install;
    unknown values are null. This decodes nothing, calls no model and changes nothing.

    Args:
        body (PlanRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Plan]
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
    body: PlanRequest,
) -> Plan | None:
    """Estimate the cost of an ingest.

     Estimates how many chunks, model calls and tokens an ingest would require, how long it would
    take, and what it would reuse. The estimates are based on previous ingests on this install;
    unknown values are null. This decodes nothing, calls no model and changes nothing.

    Args:
        body (PlanRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Plan
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: PlanRequest,
) -> Response[Plan]:
    """Estimate the cost of an ingest.

     Estimates how many chunks, model calls and tokens an ingest would require, how long it would
    take, and what it would reuse. The estimates are based on previous ingests on this install;
    unknown values are null. This decodes nothing, calls no model and changes nothing.

    Args:
        body (PlanRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Plan]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: PlanRequest,
) -> Plan | None:
    """Estimate the cost of an ingest.

     Estimates how many chunks, model calls and tokens an ingest would require, how long it would
    take, and what it would reuse. The estimates are based on previous ingests on this install;
    unknown values are null. This decodes nothing, calls no model and changes nothing.

    Args:
        body (PlanRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Plan
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
