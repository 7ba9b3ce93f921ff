export { bytes } from "./bytes.ts";
export { PAYERS, credentialOf, describeProject, payerOf, sessionPayerOf, describeSecret } from "./describe-project.ts";
export { localActor, userName } from "./local-actor.ts";
export { openCallProject, openProject, openProjectOrDefaults } from "./open-project.ts";
