import {
  readFrames,
  type BodyInput,
  type DownloadName,
  type EndpointName,
  type FormInput,
  type FrameOf,
  type JsonName,
  type ParamsOf,
  type QueryInput,
  type ResponseOf,
  type StreamName,
  type UploadName,
} from "@tandem/protocol";
import { addressOf } from "./address-of.ts";
import { ApiError } from "./api-error.ts";
import { followStream, type FollowHooks } from "./follow-stream.ts";

export type ClientRequest = Omit<RequestInit, "headers"> & { headers: Record<string, string> };

/** The part of a `Response` that the client needs. */
export interface ClientResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | null;
  json(): Promise<unknown>;
}

export interface ClientSettings<R extends ClientResponse = Response> {
  /** Where the server is. Without it, paths are relative: for a page that the server itself delivered. */
  baseUrl?: string;
  /** Sent as a bearer token. The page signs its requests instead (`createSignedFetch`). */
  token?: string;
  /** The headers are an object: to load `Headers` takes Node longer than a request. */
  fetch?: (url: string, init: ClientRequest) => Promise<R>;
  /** Called for every 401, which means that the token or the sign-in is no longer valid. */
  onUnauthorized?: () => void;
  /** Translates every error of the API into an error of the caller's own. */
  toError?: (error: ApiError) => Error;
}

/** Optional only if nothing in it is required. */
type Member<Name extends string, Value> = {} extends Value ? { [K in Name]?: Value } : { [K in Name]: Value };

/** Arguments of a call: path parameters, query and body, each only if the route has it. */
export type CallInput<Name extends EndpointName> = (keyof ParamsOf<Name> extends never
  ? {}
  : { params: ParamsOf<Name> }) &
  Member<"query", QueryInput<Name>> &
  (BodyInput<Name> extends undefined ? {} : Member<"body", BodyInput<Name>>);

interface Options {
  signal?: AbortSignal;
}

/** Routes of which the input may be left out, because nothing in it is required. */
type Plain<Name extends EndpointName> = { [N in Name]: {} extends CallInput<N> ? N : never }[Name];

/** One file, or several whose names are paths; with the parameters of the path if the route has any. */
type UploadInput<Name extends UploadName> = ({ file: Blob; filename?: string } | { files: readonly File[] }) & {
  form?: FormInput<Name>;
} & (keyof ParamsOf<Name> extends never ? {} : { params: ParamsOf<Name> }) &
  Options;

export interface Client<R extends ClientResponse = Response> {
  /** A request with JSON both ways. */
  call<Name extends Plain<JsonName>>(name: Name): Promise<ResponseOf<Name>>;
  call<Name extends JsonName>(name: Name, input: CallInput<Name> & Options): Promise<ResponseOf<Name>>;
  upload<Name extends UploadName>(name: Name, input: UploadInput<Name>): Promise<ResponseOf<Name>>;
  download(name: Plain<DownloadName>): Promise<R>;
  download<Name extends DownloadName>(name: Name, input: CallInput<Name> & Options): Promise<R>;
  /** One connection; ends when the server ends it or the connection breaks. */
  stream<Name extends StreamName>(
    name: Name,
    input: CallInput<Name> & { signal: AbortSignal; lastEventId?: string },
  ): Promise<AsyncGenerator<{ id: string | undefined; data: FrameOf<Name> }>>;
  /** A stream that is reopened after the last event that arrived, until the signal fires. */
  follow<Name extends StreamName>(
    name: Name,
    input: CallInput<Name> & FollowHooks<FrameOf<Name>> & { signal: AbortSignal; from?: string },
  ): Promise<void>;
  /** A path outside of the contract, such as the page's own sign-in. */
  request(method: string, path: string, body?: unknown): Promise<R>;
}

/** A typed client of the server's API. It trusts the server to answer as the contract says, and does not validate. */
export function createClient(settings?: ClientSettings): Client;
export function createClient<R extends ClientResponse>(
  settings: ClientSettings<R> & { fetch: NonNullable<ClientSettings<R>["fetch"]> },
): Client<R>;
export function createClient({
  baseUrl = "",
  token,
  fetch: send = (url, init) => fetch(url, init),
  onUnauthorized,
  toError = (error) => error,
}: ClientSettings<ClientResponse> = {}): Client<ClientResponse> {
  const request = async (method: string, path: string, init: SentRequest): Promise<ClientResponse> => {
    const headers = { ...init.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const response = await send(`${baseUrl}${path}`, { ...init, method, headers }).catch((cause: unknown) => {
      if (init.signal?.aborted) throw cause;
      throw toError(
        new ApiError(0, "unreachable", "The server cannot be reached. It may have been stopped.", { cause }),
      );
    });
    if (response.ok) return response;
    if (response.status === 401) onUnauthorized?.();
    throw toError(await ApiError.of(response));
  };
  const json = (body: unknown): SentRequest =>
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const open = async (name: EndpointName, input: OpenInput): Promise<ClientResponse> => {
    const { method, path } = addressOf(name, input);
    const { body, signal, lastEventId } = input;
    const init = json(body);
    const headers = { ...init.headers, ...(lastEventId !== undefined && { "last-event-id": lastEventId }) };
    return request(method, path, { ...init, headers, ...(signal && { signal }) });
  };
  const frames = async (name: StreamName, input: OpenInput, onBytes?: () => void) => {
    const { body } = await open(name, input);
    if (!body) throw toError(new ApiError(0, "unreachable", "The server sent no stream."));
    return readFrames(body, { ...(onBytes && { onBytes }) });
  };
  return {
    call: async (name: JsonName, input?: unknown): Promise<never> => {
      const response = await open(name, plain(input));
      return (response.status === 204 ? undefined : await response.json()) as never;
    },
    upload: async (name, input) => {
      const { form = {}, signal } = input;
      const { method, path } = addressOf(name, { params: "params" in input ? input.params : {} });
      const data = new FormData();
      for (const [key, value] of Object.entries(form)) data.append(key, String(value));
      if ("files" in input) for (const file of input.files) data.append("files[]", file, file.name);
      else data.append("file", input.file, input.filename);
      const response = await request(method, path, { body: data, ...(signal && { signal }) });
      return (await response.json()) as never;
    },
    download: (name: DownloadName, input?: unknown) => open(name, plain(input)),
    stream: async (name, input) => parsed(await frames(name, plain(input))),
    follow: (name, { from, signal, ...input }) =>
      followStream(
        async (lastEventId, line, onBytes) =>
          parsed(await frames(name, { ...plain(input), signal: line, lastEventId }, onBytes)),
        { ...input, from, signal },
      ),
    request: (method, path, body) => request(method, path, json(body)),
  };
}

type SentRequest = Pick<RequestInit, "body" | "signal"> & { headers?: Record<string, string> };

interface OpenInput {
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  signal?: AbortSignal | undefined;
  lastEventId?: string | undefined;
}

/** The input of any route, after the types of `Client` have checked that of this one. */
const plain = (input: unknown): OpenInput => input ?? {};

/** The types of `Client` say what the data of each frame is. */
async function* parsed(
  frames: AsyncIterable<{ id: string | undefined; data: string }>,
): AsyncGenerator<{ id: string | undefined; data: never }> {
  for await (const { id, data } of frames) yield { id, data: JSON.parse(data) as never };
}
