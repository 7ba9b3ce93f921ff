import type { TokenStore } from "@tandem/storage";

/** Tokens as a tenant sees them: its own. Others can neither be listed nor revoked, and none can be made for others. */
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
