from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.extractor_detail import ExtractorDetail
from ...models.extractor_request import ExtractorRequest
from ...types import Response


def _get_kwargs(
    name: str,
    *,
    body: ExtractorRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/extractors/{name}".format(
            name=quote(str(name), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> ExtractorDetail | None:
    if response.status_code == 200:
        response_200 = ExtractorDetail.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[ExtractorDetail]:
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
    body: ExtractorRequest,
) -> Response[ExtractorDetail]:
    """Define a custom analyzer.

     A language model fills in the schema for every chunk, based on speech, on-screen text and
    visible content. The name can be used wherever an analyzer is named: in ingests, searches,
    questions and tables. Redefining an extractor invalidates its stored output, which the next
    ingest computes again.

    Args:
        name (str):
        body (ExtractorRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ExtractorDetail]
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
    body: ExtractorRequest,
) -> ExtractorDetail | None:
    """Define a custom analyzer.

     A language model fills in the schema for every chunk, based on speech, on-screen text and
    visible content. The name can be used wherever an analyzer is named: in ingests, searches,
    questions and tables. Redefining an extractor invalidates its stored output, which the next
    ingest computes again.

    Args:
        name (str):
        body (ExtractorRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ExtractorDetail
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
    body: ExtractorRequest,
) -> Response[ExtractorDetail]:
    """Define a custom analyzer.

     A language model fills in the schema for every chunk, based on speech, on-screen text and
    visible content. The name can be used wherever an analyzer is named: in ingests, searches,
    questions and tables. Redefining an extractor invalidates its stored output, which the next
    ingest computes again.

    Args:
        name (str):
        body (ExtractorRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[ExtractorDetail]
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
    body: ExtractorRequest,
) -> ExtractorDetail | None:
    """Define a custom analyzer.

     A language model fills in the schema for every chunk, based on speech, on-screen text and
    visible content. The name can be used wherever an analyzer is named: in ingests, searches,
    questions and tables. Redefining an extractor invalidates its stored output, which the next
    ingest computes again.

    Args:
        name (str):
        body (ExtractorRequest):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        ExtractorDetail
    """

    return (
        await asyncio_detailed(
            name=name,
            client=client,
            body=body,
        )
    ).parsed
