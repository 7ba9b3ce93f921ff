import type { Value } from "@tandem/connectors";
import { wordsOf } from "@tandem/relationships";
import { hasNameForm, isGivenName, isNamePart, isPersonName } from "./person-names.ts";
import {
  isBirthDate,
  isCardNumber,
  isDialled,
  isEmail,
  isIban,
  isIpAddress,
  isNationalId,
  isPhone,
  isPosition,
  isSecret,
  isStreetAddress,
  isTaxId,
} from "./personal-values.ts";

/** Kinds of personal data, in the words of the product. */
export const PERSONAL_KINDS = [
  "e-mail address",
  "phone number",
  "name of a person",
  "user name",
  "postal address",
  "birth date or place",
  "national or tax id",
  "bank account or card",
  "IP address",
  "geo position",
  "password or token",
] as const;
export type PersonalKind = (typeof PERSONAL_KINDS)[number];

interface ObservedColumn {
  table: string;
  column: string;
  /** The database's type name. */
  type: string;
  values: readonly Value[];
}

/** Kind of personal data that a column probably holds, from its name, type and values. Undefined if it holds none. */
export function personalData(column: ObservedColumn): PersonalKind | undefined {
  const seen = new Seen(column);
  return seen.size === 0 ? undefined : TESTS.find(([, test]) => test(seen))?.[0];
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** Only persons are in such tables. */
const PEOPLE = set(
  "employee employees user users person persons people patient patients student students teacher teachers driver drivers member members staff passenger passengers applicant applicants candidate candidates doctor doctors author authors mitarbeiter benutzer nutzer personen patienten schueler schuler studenten lehrer fahrer mitglied mitglieder angestellte bewerber arzte aerzte personal",
);
/** Persons, companies or both. */
const PARTIES = set(
  "customer customers client clients contact contacts lead leads guest guests subscriber subscribers owner owners tenant tenants kunde kunden kontakt kontakte gast gaste gaeste interessenten ansprechpartner mieter empfaenger empfanger recipient recipients",
);
const PLACES = set(
  "city cities town towns country countries airport airports station stations store stores branch branches warehouse warehouses location locations region regions venue venues stop stops hotel hotels port ports site sites facility facilities place places poi landmark ort orte stadt stadte staedte flughafen bahnhof bahnhofe haltestelle haltestellen filiale filialen lager standort standorte lander laender geo geography street streets strassen",
);

/** Named after persons, but no persons. */
const THINGS = set(
  "brand brands marke hersteller manufacturer vendor company firma unternehmen organisation organization product produkt artikel song album track title titel film movie book city ort team model modell street strasse",
);

const PERSON_PART =
  /^((contact|customer|employee|user|patient|member|kunde|kunden|mitarbeiter|cust|emp)?(firstname|lastname|surname|givenname|familyname|middlename|maidenname|forename|secondname|fname|lname|vorname|nachname|familienname|zuname|geburtsname|rufname|prenom|nomdefamille|apellidos?|cognome|achternaam|voornaam)\d?)$/;
const PERSON_ROLE =
  /^(contact(name|person)?|(employee|patient|driver|author|student|teacher|doctor|passenger|user|person|member|applicant|recipient|guest|owner|manager|salesrep|agent|rep)(full)?name|ansprechpartner(name)?|sachbearbeiter(name)?|betreuer|mitarbeitername|personenname|fahrername|empfaengername|fullname|realname|displayname|salesperson|salesrep|kundenbetreuer|bearbeiter|kontaktperson|holder|cardholder(name)?|kontoinhaber|inhaber)$/;
const NAME =
  /^((full|display|real|customer|client|contact|account|billing|shipping|kunden|gast)?name|customer|client|kunde|kundenname|titel|bezeichnung|createdby|updatedby|assignedto|assignee|owner|manager|author|rep|contact)$/;
const NATIONAL =
  /socialsecurity|nationalid|ninumber|nationalinsurance|taxid|taxnumber|taxno$|taxpayer|steuerid|steuernummer|steuernr|steueridentifikation|sozialversicherung|rentenversicherung|krankenversicher|versichertennummer|passport|reisepass|ausweis|driver(s)?licen[cs]e|fuehrerschein|fuhrerschein|fiscalcode|codicefiscale|personnummer|personalnumberid|identitycard/;
const NATIONAL_WORDS = set("ssn nino tin svnr svnummer nif dni nie curp cpf bsn ahv insee");
const ACCOUNT =
  /iban|bankaccount|kontonummer|kontonr|bankkonto|creditcard|cardnumber|cardno$|cardnum$|ccnumber|ccnum$|kreditkarte|kartennummer/;
const SECRET =
  /password|passwd|passwort|kennwort|passphrase|apikey|accesskey|privatekey|secretkey|clientsecret|accesstoken|refreshtoken|authtoken|sessiontoken|sessionkey|apitoken/;

/** In this order: the first that fits names the column. */
const TESTS: readonly (readonly [PersonalKind, (seen: Seen) => boolean])[] = [
  ["e-mail address", (seen) => seen.share(isEmail) >= 0.3],
  ["password or token", isSecretColumn],
  ["bank account or card", isAccountColumn],
  ["IP address", (seen) => seen.share(isIpAddress) >= 0.8 && !seen.has("version", "release", "build", "firmware")],
  ["national or tax id", isNationalColumn],
  ["geo position", isPositionColumn],
  ["birth date or place", isBirthColumn],
  [
    "phone number",
    (seen) =>
      seen.share(isPhone) >= 0.8 ||
      (seen.has(..."phone telephone tel mobile mobil fax telefon handy msisdn cell cellphone".split(" ")) ||
      /telefon|rufnummer|handynummer|mobilnummer|phonenumber|faxnummer/.test(seen.compact)
        ? seen.share(isDialled) >= 0.6
        : false),
  ],
  ["postal address", isAddressColumn],
  ["name of a person", isNameColumn],
  [
    "user name",
    (seen) =>
      /^(user|login|benutzer|anmelde|screen|nick)name$|^(login|nick|userlogin|useraccount|(twitter)?handle)$/.test(
        seen.compact,
      ) && seen.share((text) => /^@?\p{L}[\p{L}\p{N}._-]{1,39}$/u.test(text)) >= 0.8,
  ],
];

function isSecretColumn(seen: Seen): boolean {
  if (seen.share(isSecret) >= 0.5) return true;
  if (seen.share((text) => /^\d{4}-\d{2}-\d{2}/.test(text)) > 0.5) return false;
  const isLong = (text: string) => text.length >= 6 && !/\s/.test(text);
  const isRandom = (text: string) => isLong(text) && /\d/.test(text) && /\p{L}/u.test(text);
  if (seen.has("pin", "cvv", "cvc", "otp", "cvv2")) return seen.share((text) => /^\d{3,8}$/.test(text)) >= 0.8;
  if (seen.has("type", "status", "policy", "count", "hint", "strength", "name")) return false;
  if (SECRET.test(seen.compact) || seen.has("pwd")) return seen.share(isLong) >= 0.6;
  return seen.has("token", "secret", "salt") && seen.share(isRandom) >= 0.7;
}

function isAccountColumn(seen: Seen): boolean {
  if (seen.share(isIban) >= 0.5 || (seen.size >= 3 && seen.share(isCardNumber) >= 0.8)) return true;
  return (
    ACCOUNT.test(seen.compact) && seen.share((text) => /(?:[\dxX*•]){6}/.test(text.replaceAll(/[\s-]/g, ""))) >= 0.6
  );
}

function isNationalColumn(seen: Seen): boolean {
  if (seen.size >= 2 && seen.share(isNationalId) >= 0.8) return true;
  if (seen.size >= 5 && seen.share(isTaxId) === 1) return true;
  const isNamed = NATIONAL.test(seen.compact) || seen.words.some((word) => NATIONAL_WORDS.has(word));
  return isNamed && seen.share((text) => text.length <= 22 && text.replaceAll(/\D/g, "").length >= 5) >= 0.6;
}

function isPositionColumn(seen: Seen): boolean {
  if (seen.isTableOf(PLACES)) return false;
  if (/^(point|geometry|geography)\b/i.test(seen.type) || seen.share(isPosition) >= 0.8) return true;
  const isNamed = seen.has(..."lat latitude lng lon longitude breitengrad laengengrad langengrad".split(" "));
  const isDegree = (text: string) => /^-?\d{1,3}\.\d{2,}$/.test(text) && Math.abs(Number(text)) <= 180;
  return (isNamed || seen.compact === "long") && seen.share(isDegree) >= 0.6;
}

function isBirthColumn(seen: Seen): boolean {
  const isNamed =
    seen.has("birth", "birthday", "birthdate", "dob", "born", "geb", "gebdat", "gebdatum", "naissance", "nacimiento") ||
    /geburt|birthday|birthdate|dateofbirth/.test(seen.compact);
  if (!isNamed || seen.compact === "geburtsname") return false;
  if (/birthplace|placeofbirth|geburtsort|birthcity/.test(seen.compact)) return seen.share(isNamePart) >= 0.6;
  return seen.share((text) => isBirthDate(text) || /^(18|19|20)\d{6}$/.test(text)) >= 0.6;
}

function isAddressColumn(seen: Seen): boolean {
  if (seen.share(isStreetAddress) >= 0.6) return true;
  if (seen.has("ip", "mac", "email", "mail", "web", "url", "wallet", "memory") || seen.isTableOf(PLACES)) return false;
  if (/^(hausnummer|hausnr|housenumber|housenr|houseno)$/.test(seen.compact))
    return seen.share((text) => /^\d{1,4} ?[a-z]?(-\d+)?$/i.test(text)) >= 0.8;
  const isNamed =
    seen.has(..."address addr street strasse str anschrift adresse addressline direccion adresszeile".split(" ")) ||
    /strasse|anschrift|adresse$|address\d?$|addr\d$|addressline/.test(seen.compact);
  if (!isNamed) return false;
  const isLine = (text: string) =>
    text.length >= 6 && /\d/.test(text) && /\p{L}{3}/u.test(text) && /\s/.test(text) && !/:\/\//.test(text);
  return (
    seen.share(isLine) >= 0.5 ||
    seen.share((text) =>
      /(str\.?|stra(ss|ß)e|weg|platz|allee|gasse|ring| st| street| road| avenue| lane)$/iu.test(text),
    ) >= 0.5
  );
}

function isNameColumn(seen: Seen): boolean {
  if (PERSON_PART.test(seen.compact)) return seen.share(isNamePart) >= 0.7;
  if (seen.words.some((word) => THINGS.has(word))) return false;
  const persons = seen.share(isPersonName);
  // One or two such values may be a brand or a title.
  if (persons >= 0.6 && seen.size > 2) return true;
  const isOfPeople = seen.isTableOf(PEOPLE);
  if (PERSON_ROLE.test(seen.compact) || (isOfPeople && NAME.test(seen.compact))) {
    return (
      persons >= 0.3 ||
      seen.share(hasNameForm) >= 0.7 ||
      seen.share((text) => !/\s/.test(text) && isGivenName(text)) >= 0.5
    );
  }
  const isAboutParties = NAME.test(seen.compact) || seen.isTableOf(PARTIES);
  return isAboutParties && persons >= 0.35;
}

/** A column prepared for the tests. */
class Seen {
  readonly words: readonly string[];
  /** The name without separators, lower-case. */
  readonly compact: string;
  readonly type: string;
  readonly #table: readonly string[];
  readonly #values: readonly string[];

  constructor({ table, column, type, values }: ObservedColumn) {
    this.words = wordsOf(column);
    this.compact = this.words.join("");
    this.type = type;
    this.#table = wordsOf(table);
    this.#values = values
      .filter((value) => value !== null && typeof value !== "boolean")
      .map((value) => String(value).trim())
      .filter((text) => text !== "");
  }

  get size(): number {
    return this.#values.length;
  }

  has(...words: readonly string[]): boolean {
    return words.some((word) => this.words.includes(word));
  }

  isTableOf(words: ReadonlySet<string>): boolean {
    return this.#table.some((word) => words.has(word));
  }

  /** Share of the values that pass. */
  share(test: (text: string) => boolean): number {
    return this.#values.filter(test).length / this.#values.length;
  }
}
