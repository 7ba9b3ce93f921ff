import type { TokenStore } from "@tandem/storage";

/** Restricts a token store to one tenant: it can list, revoke and create only its own tokens. */
export const tokensOf = (tokens: TokenStore, tenant: string): TokenStore => ({
  create: (row) => tokens.create({ ...row, tenant }),
  list: () => tokens.list(tenant),
  async delete(id) {
    const own = await tokens.list(tenant);
    return own.some((row) => row.id === id) && (await tokens.delete(id));
  },
  async findByHash(hash) {
    const found = await tokens.findByHash(hash);
    return found?.tenant === tenant ? found : undefined;
  },
  touch: (id, at) => tokens.touch(id, at),
});
