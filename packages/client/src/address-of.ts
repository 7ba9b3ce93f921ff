import { ENDPOINTS, type EndpointName } from "@tandem/protocol";

type Query = Readonly<Record<string, unknown>>;

/** Method and path of a route, with its parameters and query filled in. A list is sent as `name[]=a&name[]=b`. */
export function addressOf(
  name: EndpointName,
  { params = {}, query = {} }: { params?: Readonly<Record<string, string>>; query?: Query } = {},
): { method: string; path: string } {
  const [method = "GET", template = "/"] = ENDPOINTS[name].split(" ");
  const path = template.replaceAll(/:(\w+)/g, (_, param: string) => encodeURIComponent(params[param] ?? ""));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const item of value) search.append(`${key}[]`, String(item));
    else if (value !== undefined) search.append(key, typeof value === "string" ? value : JSON.stringify(value));
  }
  const text = search.toString();
  return { method, path: text === "" ? path : `${path}?${text}` };
}
