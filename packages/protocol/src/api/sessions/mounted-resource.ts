import { z } from "zod";

/** Of all resources of a session. */
export const MAX_RESOURCES = 500;
export const MAX_MEMORY_STORES = 8;

const branchCheckout = z.strictObject({ type: z.literal("branch"), name: z.string().min(1).max(255) });
const commitCheckout = z.strictObject({ type: z.literal("commit"), sha: z.string().regex(/^[0-9a-fA-F]{7,64}$/) });
const checkout = z.discriminatedUnion("type", [branchCheckout, commitCheckout]);

const fileResourceParams = z.strictObject({
  type: z.literal("file"),
  file_id: z.string(),
  mount_path: z.string().nullish(),
});
export type FileResourceParams = z.infer<typeof fileResourceParams>;

const repositoryParams = z.strictObject({
  type: z.literal("github_repository"),
  url: z.string().min(1).max(2_048),
  /** Never returned. An admin may name a secret instead: `env:NAME`, `file:path` or `command:program`. */
  authorization_token: z.string().min(1).max(8_192).optional(),
  checkout: checkout.nullish(),
  mount_path: z.string().nullish(),
});

const memoryStoreParams = z.strictObject({
  type: z.literal("memory_store"),
  memory_store_id: z.string().min(1),
  access: z.enum(["read_write", "read_only"]).nullish(),
  instructions: z.string().max(4_096).nullish(),
});

export const sessionResourceParams = z.discriminatedUnion("type", [
  fileResourceParams,
  repositoryParams,
  memoryStoreParams,
]);
export type SessionResourceParams = z.infer<typeof sessionResourceParams>;

const times = { created_at: z.string(), updated_at: z.string() };

export const fileResource = z.object({
  type: z.literal("file"),
  id: z.string(),
  file_id: z.string(),
  /** As requested. */
  mount_path: z.string(),
  ...times,
  /** Its path in the session's folder, and its content. `found`: an identical file was there before. */
  tandem: z.object({ path: z.string(), sha256: z.string(), found: z.literal(true).optional() }).optional(),
});
export type FileResource = z.infer<typeof fileResource>;

const repositoryResource = z.object({
  type: z.literal("github_repository"),
  id: z.string(),
  url: z.string(),
  checkout: checkout.nullish(),
  mount_path: z.string(),
  ...times,
  /** Its path in the session's folder, and the commit that was checked out, once it is cloned. */
  tandem: z.object({ path: z.string(), commit: z.string().optional() }),
});
export type RepositoryResource = z.infer<typeof repositoryResource>;

const memoryStoreResource = z.object({
  type: z.literal("memory_store"),
  memory_store_id: z.string(),
  access: z.enum(["read_write", "read_only"]),
  name: z.string().nullable(),
  description: z.string(),
  instructions: z.string().nullable(),
  mount_path: z.string(),
  tandem: z.object({ path: z.string() }),
});
export type MemoryStoreResource = z.infer<typeof memoryStoreResource>;

export const sessionResource = z.discriminatedUnion("type", [fileResource, repositoryResource, memoryStoreResource]);
export type SessionResource = z.infer<typeof sessionResource>;

/** A memory store has no id of its own in a session. */
export const resourceId = (resource: SessionResource): string =>
  resource.type === "memory_store" ? resource.memory_store_id : resource.id;
