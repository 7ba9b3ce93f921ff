import type { SessionResourceParams } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { TokenRow } from "@tandem/storage";
import { hasScope } from "./authorize.ts";
import { refuseReference } from "./refuse-reference.ts";

/** An admin runs the server, so the repositories that they name may have private addresses. */
export async function admitRepositories(
  engine: Pick<Engine, "ownerUrls">,
  token: TokenRow,
  resources: readonly SessionResourceParams[],
): Promise<void> {
  const repositories = resources.filter((resource) => resource.type === "github_repository");
  for (const { authorization_token: secret } of repositories) refuseReference(token, secret);
  if (hasScope(token, "admin")) await engine.ownerUrls.add(repositories.map(({ url }) => url));
}
