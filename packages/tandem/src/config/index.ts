export { checkEdited } from "./check-edited.ts";
export {
  configJsonSchema,
  configKey,
  configKeys,
  configSettings,
  namesIn,
  settingsFor,
  type ConfigKey,
} from "./parse/config-keys.ts";
export { formatValue, type ConfigValue } from "./parse/config-value.ts";
export { findConnection, describeLocation, redactUrl } from "./connection-location.ts";
export { databaseName } from "./store-location.ts";
export { editConfig, type Edit } from "./edit-config.ts";
export { findProject, projectAt, type ProjectLocation } from "./find-project.ts";
export { guessDriver } from "./guess-driver.ts";
export { loadProject, readConfigFile, type Project } from "./load-project.ts";
export { parseConfig, range } from "./parse/parse-config.ts";
export { parseDuration } from "./parse/parse-duration.ts";
export { ensureTandemHome, tandemHome, type Variables } from "./tandem-home.ts";
export { requireTrust, revokeTrust, riskySettings, trustFolder, untrustedSettings } from "./trust.ts";
export { folderTrust, revokeFolder, trustFolderAs, trustedFolders } from "./trusted-folders.ts";
export { openProjectToEdit, previewEdits, writeEdits } from "./write-edits.ts";
export { writeFileAtomically } from "./write-file-atomically.ts";
