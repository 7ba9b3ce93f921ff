import type { TokenRow, TokenStore } from "@tandem/storage";

export function memoryTokens(): TokenStore {
  const rows = new Map<string, TokenRow>();
  return {
    create: async (token) => void rows.set(token.id, token),
    findByHash: async (sha256) => [...rows.values()].find((row) => row.sha256 === sha256),
    list: async (tenant) => [...rows.values()].filter((row) => tenant === undefined || row.tenant === tenant),
    delete: async (id) => rows.delete(id),
    touch: async (id, at) => void rows.set(id, { ...rows.get(id)!, lastUsedAt: at }),
  };
}
