from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.alert import Alert
from ...models.alert_request import AlertRequest
from ...types import Response


def _get_kwargs(
    name: str,
    *,
    body: AlertRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/alerts/{name}".format(
            name=quote(str(name), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Alert | None:
    if response.status_code == 200:
        response_200 = Alert.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Alert]:
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
    body: AlertRequest,
) -> Response[Alert]:
    """Create or update an alert.

     An alert is a saved search that runs on every video that is ingested after the alert was
    created. The moments that match are stored: `GET /inbox` and `GET /alerts/{name}/matches` list
    them. If the alert has a webhook, it receives a signed POST (header `Shotlog-Signature`, as for
    job callbacks) with `event_id`, `alert`, `text`, `video_id`, `filename`, `p_present` and
    `moments`. Each event is delivered at least once; repeated deliveries have the same `event_id`.
    An alert without `text` matches every moment that its filters select. Updating an alert keeps its
    matches, and a paused alert stays paused; without `webhook`, the webhook is removed.

    Args:
        name (str):
        body (AlertRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Alert]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    body: AlertRequest,
) -> Alert | None:
    """Create or update an alert.

     An alert is a saved search that runs on every video that is ingested after the alert was
    created. The moments that match are stored: `GET /inbox` and `GET /alerts/{name}/matches` list
    them. If the alert has a webhook, it receives a signed POST (header `Shotlog-Signature`, as for
    job callbacks) with `event_id`, `alert`, `text`, `video_id`, `filename`, `p_present` and
    `moments`. Each event is delivered at least once; repeated deliveries have the same `event_id`.
    An alert without `text` matches every moment that its filters select. Updating an alert keeps its
    matches, and a paused alert stays paused; without `webhook`, the webhook is removed.

    Args:
        name (str):
        body (AlertRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Alert
    """

    return sync_detailed(
        name=name,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    body: AlertRequest,
) -> Response[Alert]:
    """Create or update an alert.

     An alert is a saved search that runs on every video that is ingested after the alert was
    created. The moments that match are stored: `GET /inbox` and `GET /alerts/{name}/matches` list
    them. If the alert has a webhook, it receives a signed POST (header `Shotlog-Signature`, as for
    job callbacks) with `event_id`, `alert`, `text`, `video_id`, `filename`, `p_present` and
    `moments`. Each event is delivered at least once; repeated deliveries have the same `event_id`.
    An alert without `text` matches every moment that its filters select. Updating an alert keeps its
    matches, and a paused alert stays paused; without `webhook`, the webhook is removed.

    Args:
        name (str):
        body (AlertRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Alert]
    """

    kwargs = _get_kwargs(
        name=name,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    *,
    client: AuthenticatedClient | Client,
    body: AlertRequest,
) -> Alert | None:
    """Create or update an alert.

     An alert is a saved search that runs on every video that is ingested after the alert was
    created. The moments that match are stored: `GET /inbox` and `GET /alerts/{name}/matches` list
    them. If the alert has a webhook, it receives a signed POST (header `Shotlog-Signature`, as for
    job callbacks) with `event_id`, `alert`, `text`, `video_id`, `filename`, `p_present` and
    `moments`. Each event is delivered at least once; repeated deliveries have the same `event_id`.
    An alert without `text` matches every moment that its filters select. Updating an alert keeps its
    matches, and a paused alert stays paused; without `webhook`, the webhook is removed.

    Args:
        name (str):
        body (AlertRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Alert
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
        )
    ).parsed
