const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/**
 * Words with the same meaning in every schema. Everything else is learnt from the schema; these lists only help where
 * it says too little.
 */

/** Identifier words, apart from the entity itself. */
export const ID_WORDS = set(
  `id ids key pk fk sk no nr num number code cd cod kod ref uuid guid uid oid rid identifier ident identity
   numero nummer numer numara nro codigo codice clave cle chave chiave schlussel kennung kennziffer nummero
   номер код ид идентификатор ключ 番号 コード 編号 编号 代码 号 번호 코드`,
);

/** Filler words. */
export const LINK_WORDS = set("of the de del des du da do di la le les el los der die das dem van von den");

/** Trailing prepositions: `CreatedBy`, `ShipVia`, `works_at`. */
export const PREPOSITIONS = set("by to via at from in for von an bei por para par pour en da per");

/** Prepositions before an agent. */
export const BY_WORDS = set("by von durch por par door da per przez");

/** Measures, attributes and times: such a column seldom references a row. */
export const MEASURE_WORDS = set(
  `qty quantity amount amt price prc cost total sum count cnt number_of year yr month mon day week weekday hour minute
   minutes seconds date dt time age level rank position pos sort order sequence seq index idx size width height length
   weight volume score rating stars points percent pct rate ratio discount disc tax balance bal salary sal budget version
   duration days hours months years capacity stock units pieces flag active enabled deleted is has status state stage
   priority severity grade latitude longitude lat lng lon zip postcode phone fax floor views visits`,
);

/** Descriptive text that does not identify a row. */
export const DESCRIPTIVE_WORDS = set(
  `name nm title label description descr desc caption text comment comments note notes body summary type kind status
   state value date created updated display address street city region country subject message content url path color
   colour phone fax mobile postal zip`,
);

/** Meaningless parts of table names. */
export const TABLE_DRESS = set(
  "tbl tb tab table t dim dimension fact fct f d stg src raw ref lkp lu lookup mst master mstr mast sys app data vw",
);

/** Suffixes of table names without separators: CUSTMAST, ordhdr, INVDTL. */
export const GLUED_ENDS = set("mast mstr master mst hdr header dtl detail hist tbl lkp xref");

/** Relations within one table: above, before or beside. */
export const HIERARCHY_WORDS = set(
  `parent ancestor root superior reports predecessor previous prev next successor replaced replaces duplicate sibling
   spouse partner vorganger nachfolger eltern ubergeordnet ubergeordnete padre madre superieur parente genitore pai
   upline nadrzedny nadrzedna nadrzednej nadrizeny overordnet overordnad bovenliggend superiore superieure родитель 親 父 上级`,
);

/** The same, if nothing else is in the name: `up_id`, but not `UpVotes`. */
export const SHORT_HIERARCHY_WORDS = set("up sup super ober");

/** The same among people; in other tables it is a person's role. */
export const RANK_WORDS = set(
  `manager mgr boss chief supervisor senior mentor head lead vorgesetzter vorgesetzte leiter jefe chef responsable capo
   gestor gerente tutor coach начальник руководитель 上司 经理`,
);

/** Roles of people; words such as reviewer and assignee are recognised by their endings. */
export const PERSON_ROLES = set(
  `rep representative agent owner author salesperson sales captain host friend contact admin by created updated modified
   approved invited assigned deputy substitute suplente suppleant vertreter bearbeiter verkaufer betreuer ersteller vendedor autor encargado vendeur auteur`,
);

/** Tables of people who act; customers are people too, but act less. */
export const STAFF_WORDS = set(
  `user employee staff person people member worker personnel account
   mitarbeiter benutzer angestellter nutzer empleado usuario persona trabajador employe utilisateur personne dipendente
   utente funcionario pessoa сотрудник пользователь работник 社員 従業員 用户 员工 직원 사용자`,
);

/** Professions: tables of people who act in a role. */
export const PROFESSION_WORDS = set(
  `teacher professor lecturer instructor tutor doctor physician nurse driver adjuster broker advisor adviser officer operator
   technician clerk engineer inspector therapist lehrer dozent arzt fahrer sachbearbeiter techniker berater profesor docente
   maestro medico enfermero conductor tecnico professeur enseignant medecin infirmier chauffeur technicien professore
   insegnante autista врач учитель водитель`,
);

/** Columns of people. */
export const PERSON_COLUMN_WORDS = set(
  `first last surname given family forename birth birthday born hire hired email vorname nachname apellido apellidos
   prenom cognome sobrenome имя фамилия 氏名 姓名`,
);
