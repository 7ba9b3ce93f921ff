const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/**
 * The few words that mean the same in every schema. All else is learnt from the schema at hand: these lists only help
 * where it says too little.
 */

/** What a column that identifies something is called, apart from the thing itself. */
export const ID_WORDS = set(
  `id ids key pk fk sk no nr num number code cd cod kod ref uuid guid uid oid rid identifier ident identity
   numero nummer numer numara nro codigo codice clave cle chave chiave schlussel kennung kennziffer nummero
   номер код ид идентификатор ключ 番号 コード 編号 编号 代码 号 번호 코드`,
);

/** Small words between the others. */
export const LINK_WORDS = set("of the de del des du da do di la le les el los der die das dem van von den");

/** Words at the end that join a name to what it names: `CreatedBy`, `ShipVia`, `works_at`. */
export const PREPOSITIONS = set("by to via at from in for von an bei por para par pour en da per");

/** Those that an agent follows: who did it. */
export const BY_WORDS = set("by von durch por par door da per przez");

/** What something is, how much or when: such a column seldom names a row elsewhere. */
export const MEASURE_WORDS = set(
  `qty quantity amount amt price prc cost total sum count cnt number_of year yr month mon day week weekday hour minute
   minutes seconds date dt time age level rank position pos sort order sequence seq index idx size width height length
   weight volume score rating stars points percent pct rate ratio discount disc tax balance bal salary sal budget version
   duration days hours months years capacity stock units pieces flag active enabled deleted is has status state stage
   priority severity grade latitude longitude lat lng lon zip postcode phone fax floor views visits`,
);

/** Text that describes a row and does not identify it. */
export const DESCRIPTIVE_WORDS = set(
  `name nm title label description descr desc caption text comment comments note notes body summary type kind status
   state value date created updated display address street city region country subject message content url path color
   colour phone fax mobile postal zip`,
);

/** Words that a table's name may wear without meaning. */
export const TABLE_DRESS = set(
  "tbl tb tab table t dim dimension fact fct f d stg src raw ref lkp lu lookup mst master mstr mast sys app data vw",
);

/** What the names of tables end with where nothing parts their words: CUSTMAST, ordhdr, INVDTL. */
export const GLUED_ENDS = set("mast mstr master mst hdr header dtl detail hist tbl lkp xref");

/** Who stands above, before or beside another of the same kind. */
export const HIERARCHY_WORDS = set(
  `parent ancestor root superior reports predecessor previous prev next successor replaced replaces duplicate sibling
   spouse partner vorganger nachfolger eltern ubergeordnet ubergeordnete padre madre superieur parente genitore pai
   родитель 親 父 上级`,
);

/** The same among persons; in a table of other things it is a person's role. */
export const RANK_WORDS = set(
  `manager mgr boss chief supervisor senior mentor head lead vorgesetzter vorgesetzte leiter jefe chef responsable capo
   gestor gerente начальник руководитель 上司 经理`,
);

/** Roles that persons have; words such as reviewer and assignee are known by their endings. */
export const PERSON_ROLES = set(
  `rep representative agent owner author salesperson sales captain host friend contact admin by created updated modified
   approved invited assigned bearbeiter verkaufer betreuer ersteller vendedor autor encargado vendeur auteur`,
);

/** Tables of persons who do things; customers are persons too, and have less to do. */
export const STAFF_WORDS = set(
  `user employee staff person people member worker personnel account
   mitarbeiter benutzer angestellter nutzer empleado usuario persona trabajador employe utilisateur personne dipendente
   utente funcionario pessoa сотрудник пользователь работник 社員 従業員 用户 员工 직원 사용자`,
);

/** Columns that persons have. */
export const PERSON_COLUMN_WORDS = set(
  `first last surname given family forename birth birthday born hire hired email vorname nachname apellido apellidos
   prenom cognome sobrenome имя фамилия 氏名 姓名`,
);
