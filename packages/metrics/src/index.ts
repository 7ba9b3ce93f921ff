export { type CompiledColumn, type CompiledQuery, compileQuery } from "./compile-query.ts";
export { MetricError, type MetricErrorCode } from "./metric-error.ts";
export { buildModel } from "./model/build-model.ts";
export type { CataloguedJoin, CataloguedTable } from "./model/catalogued-table.ts";
export { type MetricsFile, metricsFile } from "./model/metrics-file.ts";
export type { BrokenDefinition, Model } from "./model/model.ts";
export { judgeSql, type NamedTable } from "./verdict/judge-sql.ts";
export { type Measurement, measurementsOf, withMeasurement } from "./verdict/measure-factor.ts";
export type { Verdict, VerdictPart } from "./verdict/verdict.ts";
