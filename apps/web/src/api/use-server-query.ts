import { addressOf, type CallInput } from "@tandem/client";
import type { JsonName, ResponseOf } from "@tandem/protocol";
import { useQuery, type UseQueryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";

type Options<T> = Omit<UseQueryOptions<T>, "queryKey" | "queryFn">;

/** One answer of the server, cached under its path and, if it has one, its query. */
export function useServerQuery<Name extends JsonName>(
  name: Name,
  input: CallInput<Name> & { params?: Record<string, string>; query?: object },
  options: Options<ResponseOf<Name>> = {},
) {
  const { params = {}, query } = input;
  const { path } = addressOf(name, { params });
  return useQuery<ResponseOf<Name>>({
    queryKey: query === undefined ? [path] : [path, query],
    queryFn: ({ signal }) => api.call(name, { ...input, signal }),
    ...options,
  });
}
