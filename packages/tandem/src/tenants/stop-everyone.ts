import { RequestError, type Clock } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import { DEFAULT_TENANT, type Store } from "@tandem/storage";
import { loadSessions } from "../compose.ts";
import type { OpenTenantRuntime } from "./open-tenant-runtime.ts";

/** The actor for the operator's actions, as tenants see it in their logs. */
export const OPERATOR = "the operator";

type Switch = Engine["killSwitch"];

/** The operator's kill switch: stops all tenants, and resumes those that did not stop themselves. */
export function stopEveryone(
  own: Switch,
  store: Pick<Store, "tenants" | "tenant">,
  open: () => readonly OpenTenantRuntime[],
  clock: Clock,
): Switch {
  const tenants = async (work: (id: string) => Promise<void>): Promise<void> => {
    const rows = await store.tenants.list();
    await Promise.all(rows.filter(({ id }) => id !== DEFAULT_TENANT).map(({ id }) => work(id)));
  };
  const here = (id: string): Switch | undefined => open().find(({ tenant }) => tenant.id === id)?.engine.killSwitch;
  const kept = async (id: string) => {
    const { KillSwitch } = await loadSessions();
    return new KillSwitch((await store.tenant(id)).records, clock);
  };
  return {
    ...own,
    async stop(by, reason) {
      let { interrupted, ...halt } = await own.stop(by, reason);
      await tenants(async (id) => {
        const one = here(id);
        if ((await (one ?? (await kept(id))).state()) !== undefined) return;
        if (one) interrupted += (await one.stop(OPERATOR, reason)).interrupted;
        // Processes that have the tenant open read the switch from the store.
        else await (await kept(id)).engage(OPERATOR, reason);
      });
      return { ...halt, interrupted };
    },
    async resume(by) {
      await own.resume(by);
      await tenants(async (id) => {
        const one = here(id);
        const state = await (one ?? (await kept(id))).state();
        if (state?.by !== OPERATOR) return;
        if (one) await one.resume(OPERATOR);
        else await (await kept(id)).release();
      });
    },
    async heed() {
      const others = open().filter(({ tenant }) => tenant.id !== DEFAULT_TENANT);
      const ended = await Promise.all([own, ...others.map(({ engine }) => engine.killSwitch)].map((one) => one.heed()));
      return ended.reduce((sum, one) => sum + one, 0);
    },
  };
}

/** A tenant's kill switch: the tenant cannot resume what the operator stopped. */
export const withOperatorStop = (own: Switch, operators: Switch): Switch => ({
  ...own,
  async resume(by) {
    if (by !== OPERATOR && (await operators.state())) {
      throw new RequestError("forbidden", "The operator of this server stopped everything.", {
        fix: "Wait until the operator resumes it.",
      });
    }
    await own.resume(by);
  },
});
