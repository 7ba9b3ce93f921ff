/**
 * Allowlist of functions. Excludes functions that wait, lock, access files or other servers, or change state (`sleep`,
 * `benchmark`, `get_lock`, `load_file`, `master_pos_wait`, `nextval`, `setval`, `last_insert_id`, …), and any added
 * later.
 */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  `abs acos adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg bin bin_to_uuid bit_and bit_count
  bit_length bit_or bit_xor cast ceil ceiling char char_length character_length charset chr coalesce coercibility
  collation compress concat concat_ws connection_id conv convert convert_tz cos cot count crc32 crc32c cume_dist curdate
  current_date current_role current_time current_timestamp current_user curtime database date date_add date_format
  date_sub datediff day dayname dayofmonth dayofweek dayofyear decode decode_oracle default degrees dense_rank elt encode
  exp export_set extract extractvalue field find_in_set first_value floor format format_bytes format_pico_time found_rows
  from_base64 from_days from_unixtime geometrycollection geomcollection get_format greatest group_concat grouping hex hour
  if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6
  is_uuid isnull json_array json_array_append json_array_insert json_array_intersect json_arrayagg json_compact
  json_contains json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert json_key_value
  json_keys json_length json_loose json_merge json_merge_patch json_merge_preserve json_normalize json_object
  json_object_filter_keys json_object_to_array json_objectagg json_overlaps json_pretty json_query json_quote json_remove
  json_replace json_schema_valid json_search json_set json_storage_size json_table json_type json_unquote json_valid
  json_value lag last_day last_value lcase lead least left length lengthb linestring ln localtime localtimestamp locate log
  log10 log2 lower lpad ltrim make_set makedate maketime match max mbrcontains mbrwithin md5 median microsecond mid min
  minute mod month monthname multilinestring multipoint multipolygon name_const natural_sort_key now nth_value ntile nullif
  nvl nvl2 oct octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi point polygon
  position pow power quarter quote radians rand random_bytes rank regexp_instr regexp_like regexp_replace regexp_substr
  repeat replace reverse right round row_count row_number rpad rtrim schema sec_to_time second session_user sformat sha
  sha1 sha2 sign sin soundex space sqrt st_area st_asbinary st_asgeojson st_astext st_buffer st_centroid st_contains
  st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance st_distance_sphere st_endpoint st_envelope
  st_equals st_geomfromgeojson st_geomfromtext st_geomfromwkb st_geometrytype st_intersection st_intersects st_isclosed
  st_isempty st_issimple st_isvalid st_latitude st_length st_longitude st_numpoints st_overlaps st_pointn st_simplify
  st_srid st_startpoint st_swapxy st_touches st_transform st_union st_within st_x st_y std stddev stddev_pop stddev_samp
  str_to_date strcmp subdate substr substring substring_index subtime sum sys_guid sysdate system_user tan time time_format
  time_to_sec timediff timestamp timestampadd timestampdiff to_base64 to_char to_days to_number to_seconds trim
  trim_oracle trunc truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml upper user utc_date
  utc_time utc_timestamp uuid uuid_short uuid_to_bin validate_password_strength values var_pop var_samp variance version
  week weekday weekofyear weight_string year yearweek`.split(/\s+/),
);

/** Keywords and type names that can precede a parenthesis. A quoted name is never one of them. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  `against all and any as between binary bigint bit blob by case character columns cross datetime dec decimal distinct div
  double else escape except exists fixed float for force from having ignore in index int integer intersect is join key
  lateral like limit longtext mediumint mediumtext national nchar not numeric nvarchar offset on or order over partition
  range real regexp rlike row rows select signed smallint some straight_join text then tinyint union unsigned use using
  varbinary varchar when where with xor`.split(/\s+/),
);
