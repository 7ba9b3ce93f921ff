/** Names of large folders that a command can recreate; never stored. */
export const EXCLUDED_FOLDERS: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  ".venv",
  "__pycache__",
  ".tox",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  ".gradle",
  ".terraform",
  ".next",
  ".nuxt",
  ".turbo",
  ".parcel-cache",
  ".cache",
]);
