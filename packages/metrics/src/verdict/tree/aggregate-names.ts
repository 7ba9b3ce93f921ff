const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Rows that appear twice change nothing. */
const IMMUNE = words(`
  min max any_value arbitrary first last arg_min arg_max argmin argmax min_by max_by bool_and bool_or every bit_and bit_or
  bitwise_and_agg bitwise_or_agg approx_count_distinct approx_distinct logical_and logical_or array_unique_agg range_agg`);

const AGGREGATES = words(`
  sum count avg average mean total median mode stddev stddev_pop stddev_samp variance var_pop var_samp string_agg group_concat
  listagg list_agg array_agg list json_agg jsonb_agg json_object_agg jsonb_object_agg json_group_array json_group_object
  json_arrayagg json_objectagg xmlagg corr covar_pop covar_samp product geomean geometric_mean fsum favg sumkahan kahan_sum
  countif count_if count_star sum_if sumif sum_no_overflow histogram entropy kurtosis kurtosis_pop skewness mad bitstring_agg
  bit_xor std sem stddev_population variance_pop hll minhash range_intersect_agg`);
const AGGREGATE_FORMS = /_agg$|^approx_|^regr_|percentile|quantile/;

/** Generic calls that work on one row. Functions with their own kind of node are not listed. */
const SCALARS = words(`
  date time datetime julianday unixepoch strftime to_char to_date to_timestamp to_number date_part date_add date_sub date_diff
  datediff date_format dateadd datepart datetrunc age now current_setting timezone make_date make_time make_timestamp
  make_interval extract year month day dayofweek dayofmonth dayofyear weekday weekofyear isodow yearweek week hour minute second
  epoch microsecond millisecond monthname dayname last_day str_to_date from_unixtime unix_timestamp timestampdiff timestampadd
  addtime subtime to_days from_days strptime try_strptime date_bin
  abs sign floor ceil ceiling round trunc truncate sqrt cbrt power pow exp ln log log2 log10 mod pi sin cos tan asin acos atan
  atan2 degrees radians random rand greatest least even gcd lcm factorial isnan isinf div width_bucket
  length char_length character_length octet_length bit_length lower upper trim ltrim rtrim btrim substr substring left right
  replace reverse repeat lpad rpad concat concat_ws position strpos instr locate initcap ascii chr char unicode hex unhex quote
  format printf md5 sha1 sha2 sha256 split_part string_split str_split regexp_replace regexp_matches regexp_match regexp_extract
  regexp_like regexp_substr regexp_count regexp_full_match starts_with ends_with contains prefix suffix translate overlay
  levenshtein soundex field elt find_in_set substring_index space insert glob like
  coalesce nullif ifnull nvl if iif typeof pg_typeof cast try_cast convert likely unlikely uuid gen_random_uuid hash
  json_extract json_extract_path json_extract_path_text json_extract_string json_value json_query json_array json_object
  json_array_length jsonb_array_length json_valid json_type json_keys json_unquote json_quote json json_contains jsonb_build_object
  json_build_object to_json to_jsonb row_to_json
  array_length array_to_string cardinality array_contains list_contains list_value list_sum list_avg array_position struct_pack
  struct_extract row list_transform list_filter len array_upper array_lower string_to_array map element_at
  row_number rank dense_rank percent_rank cume_dist ntile n_tile lag lead first_value last_value nth_value grouping grouping_id
  rollup cube`);

/** Undefined: not known. */
export function aggregateKind(name: string): "aggregate" | "immune" | "scalar" | undefined {
  if (IMMUNE.has(name)) return "immune";
  if (AGGREGATES.has(name) || (AGGREGATE_FORMS.test(name) && name !== "percentile_rank")) return "aggregate";
  return SCALARS.has(name) || name === "grouping sets" ? "scalar" : undefined;
}
