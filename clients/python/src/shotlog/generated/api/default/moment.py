from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.moment import Moment
from ...types import Response


def _get_kwargs(
    moment_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/moments/{moment_id}".format(
            moment_id=quote(str(moment_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Moment | None:
    if response.status_code == 200:
        response_200 = Moment.from_dict(response.json())

        return response_200

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(*, client: AuthenticatedClient | Client, response: httpx.Response) -> Response[Moment]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    moment_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Moment]:
    """Get a moment.

     Returns everything that is stored about a moment, which is a span of a video. Hits and
    citations refer to moments. A moment remains readable as long as its video exists. After the
    video is ingested again, the moment contains the new chunks.

    Args:
        moment_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Moment]
    """

    kwargs = _get_kwargs(
        moment_id=moment_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    moment_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Moment | None:
    """Get a moment.

     Returns everything that is stored about a moment, which is a span of a video. Hits and
    citations refer to moments. A moment remains readable as long as its video exists. After the
    video is ingested again, the moment contains the new chunks.

    Args:
        moment_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Moment
    """

    return sync_detailed(
        moment_id=moment_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    moment_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Moment]:
    """Get a moment.

     Returns everything that is stored about a moment, which is a span of a video. Hits and
    citations refer to moments. A moment remains readable as long as its video exists. After the
    video is ingested again, the moment contains the new chunks.

    Args:
        moment_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Moment]
    """

    kwargs = _get_kwargs(
        moment_id=moment_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    moment_id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Moment | None:
    """Get a moment.

     Returns everything that is stored about a moment, which is a span of a video. Hits and
    citations refer to moments. A moment remains readable as long as its video exists. After the
    video is ingested again, the moment contains the new chunks.

    Args:
        moment_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Moment
    """

    return (
        await asyncio_detailed(
            moment_id=moment_id,
            client=client,
        )
    ).parsed
