/** The `baseURL` of each of the AI SDK's providers. */
export interface ProviderUrls {
  readonly anthropic: string;
  readonly vertex: string;
  readonly gateway: string;
}

export function providerUrls(url: string): ProviderUrls {
  return {
    anthropic: `${url}/v1`,
    vertex: `${url}/v1/projects/rehearsal/locations/global/publishers/anthropic/models`,
    gateway: `${url}/v4/ai`,
  };
}
