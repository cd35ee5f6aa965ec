from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.alert_match import AlertMatch
from ...models.match_judgement_request import MatchJudgementRequest
from ...types import Response


def _get_kwargs(
    name: str,
    match_id: str,
    *,
    body: MatchJudgementRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/alerts/{name}/matches/{match_id}".format(
            name=quote(str(name), safe=""),
            match_id=quote(str(match_id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> AlertMatch | None:
    if response.status_code == 200:
        response_200 = AlertMatch.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AlertMatch]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    name: str,
    match_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: MatchJudgementRequest,
) -> Response[AlertMatch]:
    """Judge a match.

     Stores whether the alert was right, with a note, who judged and when. The match is read then.
    `"verdict": null` opens it again, and marks it neither as read nor as unread. Judging a match
    does not change what the alert finds.

    Args:
        name (str):
        match_id (str):
        body (MatchJudgementRequest): Whether an alert was right to find a moment.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AlertMatch]
    """

    kwargs = _get_kwargs(
        name=name,
        match_id=match_id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    name: str,
    match_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: MatchJudgementRequest,
) -> AlertMatch | None:
    """Judge a match.

     Stores whether the alert was right, with a note, who judged and when. The match is read then.
    `"verdict": null` opens it again, and marks it neither as read nor as unread. Judging a match
    does not change what the alert finds.

    Args:
        name (str):
        match_id (str):
        body (MatchJudgementRequest): Whether an alert was right to find a moment.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AlertMatch
    """

    return sync_detailed(
        name=name,
        match_id=match_id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    name: str,
    match_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: MatchJudgementRequest,
) -> Response[AlertMatch]:
    """Judge a match.

     Stores whether the alert was right, with a note, who judged and when. The match is read then.
    `"verdict": null` opens it again, and marks it neither as read nor as unread. Judging a match
    does not change what the alert finds.

    Args:
        name (str):
        match_id (str):
        body (MatchJudgementRequest): Whether an alert was right to find a moment.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AlertMatch]
    """

    kwargs = _get_kwargs(
        name=name,
        match_id=match_id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    name: str,
    match_id: str,
    *,
    client: AuthenticatedClient | Client,
    body: MatchJudgementRequest,
) -> AlertMatch | None:
    """Judge a match.

     Stores whether the alert was right, with a note, who judged and when. The match is read then.
    `"verdict": null` opens it again, and marks it neither as read nor as unread. Judging a match
    does not change what the alert finds.

    Args:
        name (str):
        match_id (str):
        body (MatchJudgementRequest): Whether an alert was right to find a moment.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AlertMatch
    """

    return (
        await asyncio_detailed(
            name=name,
            match_id=match_id,
            client=client,
            body=body,
        )
    ).parsed
