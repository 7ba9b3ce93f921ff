import {
  MAX_MEMORY_STORES,
  RequestError,
  type MemoryStoreResource,
  type SessionResourceParams,
} from "@tandem/protocol";
import type { MemoryStores } from "../memory/memory-stores.ts";
import { inMounts, memoryMount } from "./mount-path.ts";

/** The memory stores of a new session, with their names of today. */
export async function describeMemories(
  session: string,
  wanted: readonly SessionResourceParams[],
  stores: Pick<MemoryStores, "get">,
): Promise<MemoryStoreResource[]> {
  const described: MemoryStoreResource[] = [];
  for (const [index, params] of wanted.entries()) {
    if (params.type !== "memory_store") continue;
    const place = `resources[${index}].memory_store_id`;
    const id = params.memory_store_id;
    const store = await stores.get(id).catch((error: unknown) => {
      if (!(error instanceof RequestError && error.code === "not_found")) throw error;
      throw new RequestError("invalid_request", `${place}: there is no memory store ${id}.`);
    });
    if (store.archivedAt !== null) {
      throw new RequestError("invalid_request", `${place}: the memory store ${id} is archived.`);
    }
    if (described.some((each) => each.memory_store_id === id)) {
      throw new RequestError("invalid_request", `${place}: the memory store ${id} is mounted twice.`);
    }
    if (described.length >= MAX_MEMORY_STORES) {
      throw new RequestError("invalid_request", `resources: a session has at most ${MAX_MEMORY_STORES} memory stores.`);
    }
    const plain = memoryMount(store.name);
    const taken = described.filter(({ mount_path: other }) => other === plain || other.startsWith(`${plain}-`)).length;
    const mount = taken === 0 ? plain : `${plain}-${taken + 1}`;
    described.push({
      type: "memory_store",
      memory_store_id: id,
      access: params.access ?? "read_write",
      name: store.name,
      description: store.description,
      instructions: params.instructions ?? null,
      mount_path: mount,
      tandem: { path: inMounts(mount, session) },
    });
  }
  return described;
}
