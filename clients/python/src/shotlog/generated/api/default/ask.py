from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.ask_request import AskRequest
from ...models.ask_response import AskResponse
from ...types import Response


def _get_kwargs(
    *,
    body: AskRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/ask",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> AskResponse | None:
    if response.status_code == 200:
        response_200 = AskResponse.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AskResponse]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: AskRequest,
) -> Response[AskResponse]:
    """Ask a question.

     Answers a question from the aggregates and segments of videos, with citations.

    With `Accept: text/event-stream`, the response is a stream of server-sent events: `moments`
    with the `results`; `piece` with a fragment of the answer as `text`, before its audit (if
    `begins` is true, discard earlier fragments); `sentence` for each sentence of the final
    answer, as in `audit`; and `answer` with the complete JSON response. Errors before `moments`
    are returned with an error status code; later errors end the stream with an `error` event
    that has a `detail`.

    Args:
        body (AskRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AskResponse]
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
    body: AskRequest,
) -> AskResponse | None:
    """Ask a question.

     Answers a question from the aggregates and segments of videos, with citations.

    With `Accept: text/event-stream`, the response is a stream of server-sent events: `moments`
    with the `results`; `piece` with a fragment of the answer as `text`, before its audit (if
    `begins` is true, discard earlier fragments); `sentence` for each sentence of the final
    answer, as in `audit`; and `answer` with the complete JSON response. Errors before `moments`
    are returned with an error status code; later errors end the stream with an `error` event
    that has a `detail`.

    Args:
        body (AskRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AskResponse
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: AskRequest,
) -> Response[AskResponse]:
    """Ask a question.

     Answers a question from the aggregates and segments of videos, with citations.

    With `Accept: text/event-stream`, the response is a stream of server-sent events: `moments`
    with the `results`; `piece` with a fragment of the answer as `text`, before its audit (if
    `begins` is true, discard earlier fragments); `sentence` for each sentence of the final
    answer, as in `audit`; and `answer` with the complete JSON response. Errors before `moments`
    are returned with an error status code; later errors end the stream with an `error` event
    that has a `detail`.

    Args:
        body (AskRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AskResponse]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: AskRequest,
) -> AskResponse | None:
    """Ask a question.

     Answers a question from the aggregates and segments of videos, with citations.

    With `Accept: text/event-stream`, the response is a stream of server-sent events: `moments`
    with the `results`; `piece` with a fragment of the answer as `text`, before its audit (if
    `begins` is true, discard earlier fragments); `sentence` for each sentence of the final
    answer, as in `audit`; and `answer` with the complete JSON response. Errors before `moments`
    are returned with an error status code; later errors end the stream with an `error` event
    that has a `detail`.

    Args:
        body (AskRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AskResponse
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
