import {
  code, copied, date, email, flag, int, listed, money, numberWithin, part, pick, serial, sparse, title, to, uuid, words, year,
} from "./column.ts";
import { manyTables } from "./many-tables.ts";
import type { Schema } from "./schema.ts";

/** Kept apart while the finder was tuned: only their score was looked at. */
export const heldOut: readonly Schema[] = [
  {
    name: "clinic",
    about: "capitals, glued and shortened words, persons in several roles",
    tables: {
      WARD: { rows: 9, columns: { WARDID: serial(), WARDNAME: title(), BEDS: int(4, 30) } },
      PHYSICIAN: { rows: 35, columns: { PHYSID: serial(), SURNAME: words(1), SPEC: pick("CARD", "NEUR", "ORTH"), WARDID: to("WARD.WARDID"), CHIEF: to("PHYSICIAN.PHYSID", { nulls: 0.2 }) } },
      PATIENT: { rows: 210, columns: { PATNO: serial(100_001), SURNAME: words(1), BIRTHYR: year(), FAMPHYS: to("PHYSICIAN.PHYSID") } },
      ENCOUNTER: { rows: 620, columns: { ENCID: serial(), PATNO: to("PATIENT.PATNO"), ATTPHYS: to("PHYSICIAN.PHYSID"), WARD: to("WARD.WARDID"), ADMITTED: date(), DAYS: int(1, 30) } },
      DIAGCODE: { rows: 80, columns: { ICD: code("A##.#"), DESCR: title() } },
      DIAGNOSIS: { rows: 900, columns: { ENCID: to("ENCOUNTER.ENCID"), SEQ: numberWithin("ENCID", "DIAGNOSIS"), ICD: to("DIAGCODE.ICD", { type: "TEXT" }), SEVERITY: int(1, 5) }, key: ["ENCID", "SEQ"] },
      MEDICATION: { rows: 66, columns: { MEDID: serial(), GENERIC: title(), DOSE: int(1, 60) } },
      PRESCRIPTION: { rows: 500, columns: { RXNO: serial(), ENCID: to("ENCOUNTER.ENCID"), MED: to("MEDICATION.MEDID"), PRESCRIBER: to("PHYSICIAN.PHYSID"), REFILLS: int(0, 5) } },
    },
  },
  {
    name: "speechless",
    about: "no word anywhere: tables and columns by number, all keys count from 1",
    tables: {
      T001: { rows: 23, columns: { C1: serial(), C2: words(), C3: flag() } },
      T002: { rows: 148, columns: { C1: serial(), C2: to("T001.C1"), C3: int(0, 9), C4: year() } },
      T003: { rows: 61, columns: { C1: serial(), C2: words(), C3: money() } },
      T004: { rows: 1100, columns: { C1: serial(), C2: to("T002.C1"), C3: to("T003.C1"), C4: int(1, 10), C5: money() } },
      T005: { rows: 420, columns: { C1: uuid("x"), C2: to("T001.C1"), C3: date() } },
      T006: { rows: 900, columns: { C1: to("T004.C1"), C2: to("T005.C1", { type: "TEXT" }), C3: int(0, 100) }, key: ["C1", "C2"] },
    },
  },
  {
    name: "spanish",
    about: "id_cliente, cod_producto, plurals, self references",
    tables: {
      clientes: { rows: 85, columns: { id_cliente: serial(), nombre: words(), ciudad: words(1) } },
      vendedores: { rows: 12, columns: { id_vendedor: serial(), nombre: words(), id_jefe: to("vendedores.id_vendedor", { nulls: 0.2 }), antiguedad: int(1, 12) } },
      categorias: { rows: 7, columns: { cod_categoria: code("AA#"), descripcion: title() } },
      productos: { rows: 130, columns: { cod_producto: code("P####"), descripcion: title(), categoria: to("categorias.cod_categoria", { type: "TEXT" }), existencias: int(0, 80) } },
      pedidos: { rows: 310, columns: { num_pedido: serial(), id_cliente: to("clientes.id_cliente"), vendedor: to("vendedores.id_vendedor"), fecha: date(), estado: int(1, 4), anio: year() } },
      lineas_pedido: { rows: 800, columns: { num_pedido: to("pedidos.num_pedido"), num_linea: numberWithin("num_pedido", "lineas_pedido"), cod_producto: to("productos.cod_producto", { type: "TEXT" }), cantidad: int(1, 12) }, key: ["num_pedido", "num_linea"] },
      devoluciones: {
        rows: 120,
        columns: { id_devolucion: serial(), num_pedido: part("lineas_pedido.num_pedido"), num_linea: part("lineas_pedido.num_linea"), motivo: words(3) },
        composite: [{ columns: ["num_pedido", "num_linea"], to: "lineas_pedido", toColumns: ["num_pedido", "num_linea"] }],
      },
    },
  },
  {
    name: "scripts",
    about: "Russian and Japanese names",
    tables: {
      "клиенты": { rows: 70, columns: { "код": serial(), "имя": words(), "город": words(1) } },
      "товары": { rows: 45, columns: { "код": serial(), "название": title(), "цена": money() } },
      "сотрудники": { rows: 15, columns: { "код": serial(), "имя": words(), "начальник": to("сотрудники.код", { nulls: 0.2 }) } },
      "заказы": { rows: 260, columns: { "номер": serial(), "код_клиента": to("клиенты.код"), "код_сотрудника": to("сотрудники.код"), "дата": date(), "сумма": money() } },
      "строки_заказа": { rows: 700, columns: { "номер_заказа": to("заказы.номер"), "код_товара": to("товары.код"), "количество": int(1, 15) }, key: ["номер_заказа", "код_товара"] },
      "部門": { rows: 8, columns: { "部門ID": serial(), "部門名": title() } },
      "社員": { rows: 55, columns: { "社員番号": serial(), "氏名": words(), "部門ID": to("部門.部門ID"), "上司番号": to("社員.社員番号", { nulls: 0.2 }), "年齢": int(20, 64) } },
      "勤怠": { rows: 400, columns: { id: serial(), "社員番号": to("社員.社員番号"), "日付": date(), "時間": int(1, 12) } },
    },
  },
  {
    name: "warehouse",
    about: "a letter and an underscore before each column, keys glued, a foreign key of two columns",
    tables: {
      region: { rows: 5, columns: { r_regionkey: serial(0), r_name: title() } },
      nation: { rows: 25, columns: { n_nationkey: serial(0), n_name: title(), n_regionkey: to("region.r_regionkey") } },
      supplier: { rows: 60, columns: { s_suppkey: serial(), s_name: title(), s_nationkey: to("nation.n_nationkey"), s_acctbal: money() } },
      part: { rows: 200, columns: { p_partkey: serial(), p_name: title(), p_size: int(1, 50), p_retailprice: money() } },
      partsupp: { rows: 600, columns: { ps_partkey: to("part.p_partkey"), ps_suppkey: to("supplier.s_suppkey"), ps_availqty: int(1, 200) }, key: ["ps_partkey", "ps_suppkey"] },
      customer: { rows: 150, columns: { c_custkey: serial(), c_name: title(), c_nationkey: to("nation.n_nationkey"), c_acctbal: money() } },
      orders: { rows: 700, columns: { o_orderkey: serial(), o_custkey: to("customer.c_custkey"), o_orderstatus: pick("O", "F", "P"), o_shippriority: int(0, 1) } },
      lineitem: {
        rows: 1500,
        columns: { l_orderkey: to("orders.o_orderkey"), l_linenumber: numberWithin("l_orderkey", "lineitem"), l_partkey: part("partsupp.ps_partkey"), l_suppkey: part("partsupp.ps_suppkey"), l_quantity: int(1, 50) },
        key: ["l_orderkey", "l_linenumber"],
        composite: [{ columns: ["l_partkey", "l_suppkey"], to: "partsupp", toColumns: ["ps_partkey", "ps_suppkey"] }],
      },
    },
  },
  {
    name: "university",
    about: "camelCase, roles, one-to-one extensions, empty children, an archive",
    tables: {
      person: { rows: 190, columns: { personId: serial(), givenName: words(1), familyName: words(1), email: email() } },
      student: { rows: 130, columns: { personId: to("person.personId", { only: [0, 190] }), matriculation: serial(400_001), advisorId: to("person.personId", { only: [150, 190] }) }, key: ["personId"] },
      lecturer: { rows: 30, columns: { personId: to("person.personId", { only: [150, 190] }), office: int(1, 90) }, key: ["personId"] },
      faculty: { rows: 6, columns: { facultyId: serial(), name: title(), deanId: to("lecturer.personId") } },
      course: { rows: 48, columns: { courseId: serial(), facultyId: to("faculty.facultyId"), lecturerId: to("lecturer.personId"), title: title(), ects: int(1, 12) } },
      prerequisite: { rows: 40, columns: { courseId: to("course.courseId"), requiredCourseId: to("course.courseId") }, key: ["courseId", "requiredCourseId"] },
      exam: { rows: 70, columns: { examId: serial(), courseId: to("course.courseId"), heldOn: date(), room: int(1, 40) } },
      examResult: { rows: 500, columns: { examId: to("exam.examId"), studentId: to("student.personId"), grade: int(1, 5) }, key: ["examId", "studentId"] },
      examResultArchive: { rows: 0, columns: { examId: to("exam.examId"), studentId: to("student.personId"), grade: int(1, 5) }, key: ["examId", "studentId"] },
      roomBooking: { rows: 0, columns: { bookingId: serial(), examId: to("exam.examId"), bookedBy: to("person.personId"), minutes: int(30, 90) } },
    },
  },
  {
    name: "two-houses",
    about: "two modules with tables of the same names, prefixed; natural and invented keys side by side",
    tables: {
      crm_customer: { rows: 75, columns: { id: serial(), name: title(), vat_id: code("AA########") } },
      crm_contact: { rows: 140, columns: { id: serial(), customer_id: to("crm_customer.id"), email: email(), opted_in: flag() } },
      crm_activity: { rows: 300, columns: { id: serial(), contact_id: to("crm_contact.id"), kind: pick("call", "mail", "visit"), minutes: int(1, 75) } },
      ref_country: { rows: 40, columns: { code: code("AA"), label: title() } },
      ref_currency: { rows: 12, columns: { code: code("AAA"), label: title() } },
      bil_customer: { rows: 110, columns: { id: serial(5001), name: title(), country: to("ref_country.code", { type: "TEXT" }) } },
      bil_contact: { rows: 60, columns: { id: serial(), customer_id: to("bil_customer.id"), email: email() } },
      bil_invoice: { rows: 400, columns: { number: code("R-######"), customer_id: to("bil_customer.id"), currency: to("ref_currency.code", { type: "TEXT" }), fiscal_year: year(), reminder_level: int(0, 3) } },
      bil_invoice_line: { rows: 900, columns: { invoice_number: to("bil_invoice.number", { type: "TEXT" }), line: numberWithin("invoice_number", "bil_invoice_line"), units: int(1, 60), price: money() }, key: ["invoice_number", "line"] },
      bil_payment: { rows: 350, columns: { id: serial(), invoice: to("bil_invoice.number", { type: "TEXT" }), amount: money(), received: date() } },
    },
  },
  {
    name: "tiny",
    about: "four-row tables, small integers everywhere",
    tables: {
      Colour: { rows: 4, columns: { ColourId: serial(), Name: listed("red", "green", "blue", "grey") } },
      Shape: { rows: 4, columns: { ShapeId: serial(), Name: listed("round", "square", "oval", "flat"), Corners: int(0, 4) } },
      Maker: { rows: 4, columns: { MakerId: serial(), Name: title(), Founded: year(), Stars: int(1, 4) } },
      Toy: { rows: 12, columns: { ToyId: serial(), Name: title(), ColourId: to("Colour.ColourId"), ShapeId: to("Shape.ShapeId"), MadeBy: to("Maker.MakerId"), MinAge: int(1, 4), ReplacedBy: to("Toy.ToyId", { nulls: 0.6 }) } },
      Child: { rows: 6, columns: { ChildId: serial(), FirstName: words(1), Age: int(1, 6), FavouriteToyId: to("Toy.ToyId"), Sibling: to("Child.ChildId", { nulls: 0.5 }) } },
      Loan: { rows: 15, columns: { ToyId: to("Toy.ToyId"), ChildId: to("Child.ChildId"), Week: int(1, 12), Count: int(1, 4) }, key: ["ToyId", "ChildId", "Week"] },
    },
  },
  {
    name: "media",
    about: "UUIDs, slugs, e-mail addresses, a polymorphic log, copies of values",
    tables: {
      app_user: { rows: 60, columns: { uid: uuid("u"), email: email(), referrer: to("app_user.uid", { nulls: 0.6, type: "TEXT" }) } },
      app_channel: { rows: 25, columns: { slug: code("aa-AAAA"), owner: to("app_user.uid", { type: "TEXT" }), subscribers: int(0, 9000) } },
      app_video: { rows: 180, columns: { uid: uuid("v"), channel_slug: to("app_channel.slug", { type: "TEXT" }), uploader_email: to("app_user.email", { type: "TEXT" }), seconds: int(10, 900) } },
      app_playlist: { rows: 40, columns: { uid: uuid("p"), curator_uid: to("app_user.uid", { type: "TEXT" }), title: title() } },
      app_playlist_video: { rows: 400, columns: { playlist_uid: to("app_playlist.uid", { type: "TEXT" }), video_uid: to("app_video.uid", { type: "TEXT" }), position: int(1, 40) }, key: ["playlist_uid", "video_uid"] },
      app_log: {
        rows: 300,
        columns: {
          id: serial(), subject_kind: pick("video", "playlist"),
          subject_uid: { type: "TEXT", make: ({ line, random, rowsOf }) => {
            const rows = rowsOf(`app_${String(line["subject_kind"])}`);
            return rows[Math.floor(random() * rows.length)]!["uid"]!;
          } },
          actor_uid: to("app_user.uid", { type: "TEXT" }), actor_email: copied("app_user.uid", "email", "actor_uid"), at: date(),
        },
      },
    },
    undeclarable: [
      { from: "app_log", column: "subject_uid", to: "app_video", toColumn: "uid" },
      { from: "app_log", column: "subject_uid", to: "app_playlist", toColumn: "uid" },
    ],
  },
  {
    name: "blank",
    about: "no rows at all, shortened and prefixed names, junctions",
    tables: {
      tblCompany: { rows: 0, columns: { CompanyID: serial(), CompanyName: words() } },
      tblDivision: { rows: 0, columns: { DivisionID: serial(), CompanyID: to("tblCompany.CompanyID"), Head: words() } },
      tblEmployee: { rows: 0, columns: { EmployeeID: serial(), DivID: to("tblDivision.DivisionID"), ManagerID: to("tblEmployee.EmployeeID"), Salary: money() } },
      tblSkill: { rows: 0, columns: { SkillID: serial(), SkillName: words() } },
      tblEmployeeSkill: { rows: 0, columns: { EmployeeID: to("tblEmployee.EmployeeID"), SkillID: to("tblSkill.SkillID"), Years: int(1, 9) }, key: ["EmployeeID", "SkillID"] },
      tblProject: { rows: 0, columns: { ProjectCode: code("AA##"), OwnerDivisionID: to("tblDivision.DivisionID"), Budget: money() } },
      tblAssignment: { rows: 0, columns: { ProjectCode: to("tblProject.ProjectCode", { type: "TEXT" }), EmployeeID: to("tblEmployee.EmployeeID"), Hours: int(1, 40) }, key: ["ProjectCode", "EmployeeID"] },
    },
  },
  {
    name: "unlike-names",
    about: "keys and references that share no word, wide keys that values alone can tell apart",
    tables: {
      garments: { rows: 95, columns: { stylemark: code("AA-####"), fabric: words(1), launched: year() } },
      mills: { rows: 22, columns: { plant_ident: sparse(17), town: words(1), looms: int(1, 22) } },
      batches: { rows: 260, columns: { lot: sparse(29), produced_at: to("mills.plant_ident"), what: to("garments.stylemark", { type: "TEXT" }), pieces: int(10, 400) } },
      crew: { rows: 30, columns: { badge: sparse(41), surname: words(1), works_at: to("mills.plant_ident") } },
      inspections: { rows: 340, columns: { nr: serial(), checked: to("batches.lot"), passed: flag(), inspector: to("crew.badge"), score: int(1, 100) } },
    },
  },
  manyTables({ name: "four-hundred-short", seed: 97, tables: 400, style: "short" }),
];
