export {
  CASSETTE_VERSION,
  cassette,
  FOLDER_MARK,
  type Cassette,
  type CassetteAdded,
  type CassetteBlock,
  type CassetteFolder,
  type CassetteHeader,
  type CassetteInput,
  type CassetteStep,
  type CassetteStepOf,
} from "./cassette.ts";
export { formatCassette, parseCassette } from "./cassette-file.ts";
export { findDivergence, type Divergence } from "./find-divergence.ts";
export { readableLines } from "./readable-lines.ts";
export { maskText, normaliseSteps, TEXT_RULES, type NormalStep, type ReplayMode } from "./normalise-steps.ts";
export { markFolder, unmarkFolder } from "./mark-folder.ts";
export { resultChecksum } from "./result-checksum.ts";
export { stepsOf } from "./steps-of.ts";
