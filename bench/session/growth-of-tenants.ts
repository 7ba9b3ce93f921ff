import { createClient } from "@tandem/client";
import { get } from "./growth-of-logs.ts";
import { fastest, type Growth } from "./growth.ts";
import { restingPss, startServer } from "./server-start.ts";

/** Tenants that have made one request each, and the same ones after a restart, unused. */
export const growthOfTenants: Growth = {
  of: "tenants",
  sizes: [3, 10, 30],
  async measure(stage, size) {
    await using machine = await stage.machine();
    const { server } = await startServer(machine);
    await using first = server;
    const client = createClient({ baseUrl: first.url, token: first.token });
    const tokens: string[] = [];
    for (let index = 0; index < size; index += 1) {
      const id = `tenant-${index}`;
      await client.call("tenants.create", { body: { id } });
      const { secret } = await client.call("tokens.create", { body: { name: id, scopes: ["admin"], tenant: id } });
      tokens.push(secret);
    }
    for (const token of tokens) await get({ ...first, token }, "/v1/sessions");
    const request = await fastest(() => get({ ...first, token: tokens[0]! }, "/v1/sessions"));
    const list = await fastest(() => get(first, "/v1/tenants"));
    const used = await restingPss(first);
    await first.stop();
    const { server: second, cpuSeconds = 0 } = await startServer(machine);
    await using unused = second;
    const pss = await restingPss(unused);
    await unused.stop();
    return {
      "start, CPU ms": cpuSeconds * 1_000,
      "a tenant's request, ms": request,
      "list of tenants, ms": list,
      "memory, all in use, MiB": used.tree.value,
      "memory, none in use, MiB": pss.tree.value,
    };
  },
};
