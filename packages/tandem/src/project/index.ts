export { bytes } from "./bytes.ts";
export { PAYERS, credentialOf, describeProject, payerOf, sessionPayerOf, shownSecret } from "./describe-project.ts";
export { localActor } from "./local-actor.ts";
export { openProject, openProjectOrDefaults } from "./open-project.ts";
