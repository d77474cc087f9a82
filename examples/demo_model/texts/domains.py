"""The subjects of the generated texts: a block for each domain, a line for each field.

A block's first line: domain | plural | keys of the naming field | kind of the name | subject forms.
A field's line: keys | kind | clauses. A clause follows the subject ("Ada Lovelace" + "is 36") and
holds ``{v}``; for a boolean it is "clause if true ~ clause if false". Alternatives are separated by
`` / ``. Clauses after `` // `` are held out: they are only used in the held-out split.
"""

from dataclasses import dataclass
from functools import cache

from examples.demo_model.texts.wordings import MORE


@dataclass(frozen=True, slots=True)
class Field:
    """One field a text can state: its possible JSON keys, its kind of value, its wordings."""

    keys: tuple[str, ...]
    kind: str
    clauses: tuple[str, ...]
    held_out_clauses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """One kind of thing that texts describe."""

    name: str
    plural: str
    name_keys: tuple[str, ...]
    name_kind: str
    subjects: tuple[str, ...]
    pronouns: tuple[str, ...]
    fields: tuple[Field, ...]


DOMAINS = """
person | people | name,full_name,person_name | person | {v} | She,He,They
age,age_years,years_old | int 18 96 | is {v} / is {v} years old / is aged {v} / turned {v} this year / has been {v} since May / will be {v} next week // is now {v} years of age
city,home_city,town,residence,location | city | lives in {v} / is based in {v} / comes from {v} / has a flat in {v} / grew up in {v} / moved to {v} / is from {v} / resides in {v} // now lives near {v}
country,nationality,home_country | country | was born in {v} / holds a passport from {v} / has family in {v} // was raised in {v}
job,occupation,profession,role,job_title | job | works as a {v} / is a {v} / earns a living as a {v} / was hired as a {v} / trained as a {v} // is employed as a {v}
email,email_address,contact_email | email | can be reached at {v} / uses the address {v} / writes from {v} // answers mail at {v}
phone,phone_number,telephone | phone | has the phone number {v} / can be called at {v} / answers calls on {v} // picks up the phone at {v}
company,employer,organization | company | works for {v} / joined {v} / is employed by {v} / runs {v} // has a contract with {v}
height,height_cm,height_in_cm | int 140 205 | is {v} cm tall / measures {v} cm / stands {v} cm tall // has a height of {v} cm
member,is_member,membership,active_member | bool | is a member ~ is not a member / has joined as a member ~ never became a member // is already a member ~ is not yet a member
favorite_color,color,favourite_colour | color | likes the color {v} / loves {v} / always wears {v} // is fond of {v}
married,is_married | bool | is married ~ is not married / is married ~ is single // has been married for years ~ has never been married
hobby,interest,field_of_study | topic | studies {v} / is interested in {v} / gives talks on {v} // spends evenings on {v}
children,number_of_children,kids | int 1 9 | has {v} children / is raising {v} kids // takes care of {v} children

order | orders | order_id,id,order_number,reference | code | Order {v} / The order {v} / Order number {v} | It,The order
customer,customer_name,buyer,client | person | was placed by {v} / belongs to {v} / was made by {v} / came from {v} // was sent in by {v}
product,item,article,product_name | product | is for a {v} / contains a {v} / includes one {v} / asks for a {v} // is about a {v}
quantity,qty,count,amount,units | int 2 60 | covers {v} units / asks for {v} pieces / has a quantity of {v} / lists {v} items // counts {v} pieces
total,total_price,price,sum,cost | num 5 900 2 | comes to ${v} / costs {v} dollars / has a total of {v} / totals {v} euros / is worth ${v} // adds up to {v}
status,state,order_status | enum pending,shipped,delivered,cancelled,returned,paid,new | is {v} / was marked as {v} / has the status {v} // is listed as {v}
order_date,date,ordered_on,created_at | date | was placed on {v} / dates from {v} / arrived on {v} // came in on {v}
paid,is_paid,payment_received | bool | has been paid ~ has not been paid / is paid in full ~ is still unpaid // was already paid ~ was not paid yet
city,destination,ship_to,delivery_city | city | goes to {v} / will be shipped to {v} / must be delivered to {v} // is bound for {v}
express,priority,rush,is_express | bool | ships by express ~ ships by standard mail / is urgent ~ is not urgent // goes by express ~ goes by normal mail
discount,discount_percent,rebate | int 5 70 | gets {v} percent off / has a discount of {v} percent / comes with a rebate of {v} percent // is reduced by {v} percent
color,colour | color | should be {v} / is wanted in {v} / comes in {v} // must be {v}

event | events | title,event,name,event_name | event | The {v} / {v} | It,The event
date,event_date,day,when,starts_on | date | takes place on {v} / is on {v} / starts on {v} / is planned for {v} / will be held on {v} // happens on {v}
time,start_time,starts_at,begins_at | time | begins at {v} / starts at {v} / opens its doors at {v} // gets going at {v}
city,location,place,venue_city,where | city | takes place in {v} / is in {v} / will be held in {v} / comes to {v} / meets in {v} // happens in {v}
attendees,guests,participants,visitors,capacity | int 10 900 | expects {v} guests / has room for {v} people / is open to {v} visitors / had {v} participants // can take {v} guests
price,ticket_price,entry_fee,fee | num 3 120 2 | costs {v} euros / charges ${v} for a ticket / has an entry fee of {v} // asks {v} dollars at the door
organizer,host,organiser,contact | person | is organized by {v} / is hosted by {v} / is run by {v} // is put on by {v}
topic,theme,subject | topic | is about {v} / deals with {v} / covers {v} / has the theme {v} // centers on {v}
online,is_online,virtual | bool | is held online ~ is held in person / takes place online ~ does not take place online // can be joined online ~ cannot be joined online
duration,duration_minutes,length,minutes | int 15 480 | lasts {v} minutes / takes {v} minutes / runs for {v} minutes // goes on for {v} minutes
category,kind,type,format | enum talk,workshop,concert,dinner,tour,lecture,party | is a {v} / counts as a {v} / is announced as a {v} // is billed as a {v}

company | companies | company,name,company_name,business | company | {v} | It,The company
city,headquarters,hq,office,located_in | city | is based in {v} / has its office in {v} / moved to {v} / has its headquarters in {v} // runs an office in {v}
founded,year_founded,founded_in,year | int 1850 2029 | was founded in {v} / was started in {v} / has existed since {v} / opened in {v} // dates back to {v}
employees,staff,headcount,employee_count | int 3 4000 | employs {v} people / has {v} employees / has a staff of {v} / counts {v} workers // pays {v} people
ceo,director,head,manager,founder | person | is led by {v} / is run by {v} / is headed by {v} / was founded by {v} // is managed by {v}
revenue,annual_revenue,turnover,sales | num 1 900 1 | makes {v} million dollars a year / reported sales of {v} million / has a revenue of {v} million // earned {v} million last year
product,main_product,sells | product | sells a {v} / makes the {v} / is known for its {v} // builds the {v}
public,is_public,listed | bool | is listed on the stock market ~ is not listed on the stock market / is a public company ~ is a private company // has gone public ~ has not gone public
website,domain,site | site | has its website at {v} / can be found at {v} / runs the site {v} // is online at {v}
country,registered_in | country | is registered in {v} / pays its taxes in {v} / operates in {v} // has its legal seat in {v}

product | products | product,name,product_name,item,title | product | The {v} / Our {v} / A {v} | It,The product
price,unit_price,cost,price_usd | num 1 600 2 | costs ${v} / sells for {v} dollars / is priced at {v} euros / is on sale for ${v} / goes for {v} // can be had for {v}
color,colour,finish | color | comes in {v} / is {v} / has a {v} finish / is available in {v} // is painted {v}
weight,weight_kg,mass | num 0 40 1 | weighs {v} kg / has a weight of {v} kg / brings {v} kg to the scale // tips the scales at {v} kg
sku,code,article_number,product_code | code | has the code {v} / is listed as {v} / carries the article number {v} // is filed under {v}
stock,in_stock,quantity,units_left | int 0 800 | has {v} units in stock / is down to {v} pieces / has {v} left in the store // is in stock with {v} pieces
brand,maker,manufacturer,vendor | company | is made by {v} / comes from {v} / is sold by {v} / is built by {v} // is produced by {v}
rating,stars,score | num 1 5 1 | is rated {v} / has {v} stars / scores {v} out of 5 // got a rating of {v}
available,is_available,for_sale | bool | is available ~ is sold out / can be ordered now ~ cannot be ordered now // is ready to ship ~ is not ready to ship
warranty,warranty_years,warranty_in_years | int 1 12 | has a warranty of {v} years / comes with {v} years of warranty // is covered for {v} years
material,made_of | material | is made of {v} / is built from {v} / consists of {v} // is cut from {v}

booking | bookings | booking_id,reference,confirmation,code,id | code | Booking {v} / The booking {v} / Reservation {v} | It,The booking
guest,guest_name,name,customer,booked_by | person | is for {v} / was made by {v} / is in the name of {v} / belongs to {v} // was taken out by {v}
hotel,place,hotel_name,property | hotel | is at the {v} / is for the {v} / was made with the {v} // reserves a stay at the {v}
nights,number_of_nights,stay | int 1 21 | is for {v} nights / covers {v} nights / lasts {v} nights // spans {v} nights
check_in,arrival,from_date,arrival_date | date | starts on {v} / has check-in on {v} / begins on {v} // runs from {v}
check_out,departure,to_date,departure_date | date | ends on {v} / has check-out on {v} / is over on {v} // runs until {v}
guests,people,party_size,adults | int 1 12 | is for {v} guests / covers {v} people / has a party of {v} // counts {v} persons
room,room_number,room_no | int 1 999 | is for room {v} / has room number {v} / was given room {v} // gets room {v}
price,total,rate,cost | num 30 900 2 | costs {v} dollars / comes to ${v} / has a price of {v} euros // amounts to {v}
breakfast,breakfast_included,with_breakfast | bool | includes breakfast ~ does not include breakfast / comes with breakfast ~ comes without breakfast // has breakfast included ~ has no breakfast included
room_type,category,type | enum single,double,suite,twin,family,deluxe | is for a {v} room / has a {v} room / asks for a {v} room // reserves a {v} room
city,destination | city | is in {v} / is for a trip to {v} / takes the guest to {v} // is for a stay in {v}

job | jobs | title,position,job_title,role | job | The {v} position / The job as {v} / The post of {v} | It,The job
company,employer,organization | company | is at {v} / was posted by {v} / is offered by {v} / is with {v} // is open at {v}
salary,annual_salary,pay,yearly_pay | int 18000 180000 | pays {v} a year / has a salary of {v} dollars / offers {v} euros a year // brings in {v} a year
city,location,workplace,office | city | is in {v} / is based in {v} / is located in {v} // is to be done in {v}
remote,is_remote,work_from_home | bool | is remote ~ is not remote / can be done from home ~ cannot be done from home // allows remote work ~ does not allow remote work
start_date,starts,available_from | date | starts on {v} / is open from {v} / begins on {v} // is to be filled by {v}
experience,years_of_experience,min_years | int 1 15 | needs {v} years of experience / asks for {v} years of practice / requires {v} years in the field // expects {v} years of work before
contract,employment_type,type,schedule | enum full-time,part-time,temporary,freelance,permanent,internship | is {v} / is a {v} contract / is offered as {v} // is meant as {v}
contact,recruiter,hiring_manager | person | is handled by {v} / has {v} as contact / is managed by {v} // is looked after by {v}
skill,main_skill,required_skill | topic | asks for knowledge of {v} / requires {v} / needs skills in {v} // calls for {v}

recipe | recipes | name,title,dish,recipe | dish | The {v} / This {v} / A {v} | It,The dish
servings,serves,portions | int 1 14 | serves {v} / is enough for {v} people / makes {v} portions // feeds {v} people
prep_time,minutes,preparation_minutes,time | int 5 180 | takes {v} minutes / is ready in {v} minutes / needs {v} minutes of work // is done in {v} minutes
main_ingredient,ingredient,base | food | is made with {v} / is based on {v} / needs {v} / contains {v} // is cooked with {v}
difficulty,level,skill_level | enum easy,medium,hard,simple,advanced | is {v} / is {v} to make / is of {v} difficulty // is {v} to cook
vegetarian,is_vegetarian,meat_free | bool | is vegetarian ~ is not vegetarian / contains no meat ~ contains meat // is free of meat ~ is not free of meat
calories,kcal,energy | int 80 990 | has {v} calories / contains {v} kcal / comes to {v} calories // counts {v} calories
oven_temperature,temperature,temp | int 90 250 | is baked at {v} degrees / goes into the oven at {v} degrees / needs {v} degrees // is cooked at {v} degrees
author,cook,chef,by | person | is by {v} / was written by {v} / comes from {v} // was created by {v}
origin,cuisine,country | country | comes from {v} / is popular in {v} / has its roots in {v} // was first made in {v}

vehicle | vehicles | plate,license_plate,registration,id | plate | The car {v} / The van {v} / Vehicle {v} | It,The car
brand,make,manufacturer | word | is a {v} / was built by {v} / is made by {v} // was made by {v}
year,model_year,built | int 1970 2030 | was built in {v} / is from {v} / dates from {v} // was made in {v}
color,colour,paint | color | is {v} / was painted {v} / has a {v} finish // is done in {v}
mileage,km,odometer,kilometers | int 100 250000 | has run {v} km / shows {v} km / was driven {v} km // has {v} km on the clock
owner,driver,registered_to | person | belongs to {v} / is driven by {v} / is owned by {v} // is registered to {v}
price,value,asking_price | num 900 60000 0 | costs {v} dollars / is for sale at {v} / is worth {v} euros // can be bought for {v}
electric,is_electric | bool | is electric ~ is not electric / runs on electricity ~ runs on petrol // drives on batteries ~ does not drive on batteries
seats,number_of_seats | int 2 9 | has {v} seats / seats {v} people / carries {v} people // has room for {v}
fuel,fuel_type,engine | enum petrol,diesel,electric,hybrid,gas,hydrogen | runs on {v} / has a {v} engine / takes {v} // is powered by {v}

book | books | title,book,name,book_title | title | {v} / The book {v} / The novel {v} | It,The book
author,writer,written_by | person | was written by {v} / is by {v} / comes from the pen of {v} / is a work of {v} // was penned by {v}
year,published,publication_year | int 1800 2029 | was published in {v} / came out in {v} / appeared in {v} // was printed in {v}
pages,page_count,length,number_of_pages | int 40 1200 | has {v} pages / runs to {v} pages / is {v} pages long // fills {v} pages
publisher,press,publishing_house | company | was published by {v} / is sold by {v} / appeared at {v} // was brought out by {v}
isbn,code,shelf_mark | code | has the number {v} / is shelved under {v} / carries the code {v} // is found under {v}
genre,category,kind,type | enum fiction,history,science,poetry,mystery,romance,travel | is a work of {v} / is filed under {v} / belongs to {v} // counts as {v}
language,original_language | enum english,french,german,spanish,italian,japanese | is in {v} / was written in {v} / is read in {v} // came out in {v}
price,cost | num 3 80 2 | costs {v} euros / sells for ${v} / is priced at {v} // is sold at {v}
borrowed,on_loan,is_borrowed | bool | is on loan ~ is on the shelf / has been borrowed ~ has not been borrowed // was borrowed ~ was not borrowed

pet | pets | name,pet_name,pet | word | {v} / The pet {v} | It,The animal
species,animal,kind,type | animal | is a {v} / is my {v} / was sold as a {v} // belongs to us as a {v}
age,age_years,years | int 1 24 | is {v} years old / is {v} / turned {v} // has lived for {v} years
owner,owner_name,keeper | person | belongs to {v} / lives with {v} / is owned by {v} // is kept by {v}
weight,weight_kg,kg | num 0 60 1 | weighs {v} kg / has a weight of {v} kg / is {v} kg heavy // comes to {v} kg
color,coat,fur_color | color | is {v} / has a {v} coat / has {v} fur // looks {v}
vaccinated,is_vaccinated | bool | is vaccinated ~ is not vaccinated / has had its shots ~ has not had its shots // was vaccinated ~ was never vaccinated
chip,chip_id,microchip,tag | code | wears the tag {v} / has the chip {v} / carries the number {v} // is marked with {v}
food,favorite_food,eats,diet | food | eats {v} / loves {v} / is fed {v} // is fond of {v}
vet,doctor | person | is treated by {v} / sees {v} / is a patient of {v} // is looked after by {v}

shipment | shipments | tracking_number,tracking,id,tracking_code,parcel | code | Parcel {v} / Shipment {v} / The package {v} | It,The parcel
origin,from,sender_city,source | city | left {v} / was sent from {v} / comes from {v} / set out from {v} // started in {v}
destination,to,target,delivery_city | city | goes to {v} / is on its way to {v} / is bound for {v} / will arrive in {v} // travels to {v}
carrier,courier,shipped_by | company | is carried by {v} / was handed to {v} / travels with {v} // is moved by {v}
weight,weight_kg,kg | num 0 90 1 | weighs {v} kg / has a weight of {v} kg / is {v} kg heavy // comes to {v} kg
arrival,eta,delivery_date,due,expected | date | arrives on {v} / is due on {v} / is expected on {v} // should be there by {v}
recipient,receiver,addressee | person | is for {v} / is addressed to {v} / will be received by {v} // goes to {v} in person
sender,shipper | person | was sent by {v} / was posted by {v} / was packed by {v} // was dropped off by {v}
fragile,is_fragile,handle_with_care | bool | is fragile ~ is not fragile / must be handled with care ~ can be handled as usual // breaks easily ~ does not break easily
status,state | enum in transit,delivered,lost,delayed,waiting,returned | is {v} / has been reported as {v} / has the status {v} // shows as {v}
contents,content,item,goods | product | contains a {v} / holds a {v} / has a {v} inside // carries a {v}

ticket | tickets | ticket_id,id,ticket,case_number | code | Ticket {v} / Case {v} / The ticket {v} | It,The ticket
reporter,customer,opened_by,user | person | was opened by {v} / was reported by {v} / came from {v} // was filed by {v}
issue,problem,summary,description | reason | says that {v} / reports that {v} / states that {v} // complains that {v}
priority,severity,urgency,level | enum low,medium,high,urgent,critical,normal | has {v} priority / is of {v} priority / was rated {v} // is treated with {v} priority
assignee,assigned_to,agent,owner | person | is assigned to {v} / is handled by {v} / is in the hands of {v} // was passed on to {v}
opened,created,opened_on,date | date | was opened on {v} / dates from {v} / was created on {v} // came in on {v}
resolved,is_resolved,closed,fixed | bool | is resolved ~ is not resolved / has been fixed ~ has not been fixed // was closed ~ is still open
category,area,department,team | enum billing,hardware,software,network,account,delivery,security | belongs to {v} / is about {v} / went to {v} // falls under {v}
device,product,affected_product | product | concerns the {v} / is about a {v} / is for the {v} // has to do with a {v}
replies,comments,messages | int 1 40 | has {v} replies / got {v} comments / holds {v} messages // drew {v} answers

course | courses | course,title,name,course_name,subject | course | The course {v} / The class {v} | It,The course
teacher,instructor,lecturer,taught_by | person | is taught by {v} / is given by {v} / is led by {v} // has {v} as its teacher
students,enrolled,class_size,participants | int 4 400 | has {v} students / is attended by {v} people / has {v} places // counts {v} students
room,classroom,hall | roomcode | meets in room {v} / is held in room {v} / takes place in hall {v} // is given in room {v}
weekday,day | enum Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday | is on {v} / meets every {v} / takes place on {v} // is held each {v}
time,start_time,starts_at | time | starts at {v} / begins at {v} / is at {v} // opens at {v}
weeks,duration_weeks,duration | int 2 40 | lasts {v} weeks / runs for {v} weeks / takes {v} weeks // goes on for {v} weeks
fee,price,tuition,cost | num 20 900 2 | costs {v} euros / has a fee of ${v} / is {v} dollars // is billed at {v}
level,difficulty | enum beginner,intermediate,advanced,expert | is for the {v} level / is of {v} level / is marked {v} // is meant for {v} learners
exam,has_exam,final_exam | bool | ends with an exam ~ has no exam / has an exam ~ does not have an exam // closes with an exam ~ closes without an exam

flight | flights | flight,flight_number,number,code | flight | Flight {v} / The flight {v} | It,The flight
origin,from,departure_city,departs_from | city | leaves from {v} / departs from {v} / takes off in {v} / starts in {v} // sets off from {v}
destination,to,arrival_city,arrives_in | city | goes to {v} / lands in {v} / flies to {v} / is headed for {v} // touches down in {v}
departure_time,departs_at,departure | time | leaves at {v} / departs at {v} / takes off at {v} // is off at {v}
date,departure_date,day | date | is on {v} / leaves on {v} / departs on {v} // flies on {v}
passengers,passenger_count,travellers | int 1 400 | carries {v} passengers / has {v} people on board / is booked by {v} travellers // takes {v} passengers
gate,boarding_gate | gate | boards at gate {v} / leaves from gate {v} / uses gate {v} // is at gate {v}
seat,seat_number | gate | has seat {v} free / gives you seat {v} / comes with seat {v} // puts you in seat {v}
price,fare,ticket_price | num 40 990 2 | costs ${v} / has a fare of {v} euros / is {v} dollars // is sold at {v}
delayed,is_delayed,late | bool | is delayed ~ is on time / runs late ~ does not run late // will be late ~ will not be late
airline,operator,carrier | company | is operated by {v} / is run by {v} / belongs to {v} // is flown by {v}
travel_class,cabin,class | enum economy,business,first,premium | is booked in {v} / offers {v} seats / is in {v} class // has {v} on offer

apartment | apartments | address,street,street_address | street | The flat at {v} / The apartment at {v} / {v} | It,The flat
rooms,number_of_rooms,room_count | int 1 9 | has {v} rooms / comes with {v} rooms / offers {v} rooms // is split into {v} rooms
rent,monthly_rent,price,rent_per_month | int 300 4500 | costs {v} a month / has a rent of {v} dollars / is let for {v} euros // goes for {v} a month
area,size,square_meters,size_m2 | int 18 260 | measures {v} square meters / has {v} square meters / is {v} m2 large // spreads over {v} square meters
city,town,located_in | city | is in {v} / lies in {v} / is found in {v} // stands in {v}
floor,storey,level | int 1 30 | is on floor {v} / lies on floor {v} / is found on level {v} // sits on floor {v}
landlord,owner,rented_by,contact | person | is let by {v} / belongs to {v} / is owned by {v} // is rented out by {v}
furnished,is_furnished | bool | is furnished ~ is not furnished / comes with furniture ~ comes without furniture // has furniture ~ has no furniture
available_from,free_from,move_in,move_in_date | date | is free from {v} / can be had from {v} / is available on {v} // is vacant from {v}
zip,postal_code,zip_code,postcode | zip | has the zip code {v} / is in the postal area {v} / has the postcode {v} // lies in the zip {v}
pets_allowed,pets,allows_pets | bool | allows pets ~ does not allow pets / is open to pets ~ forbids pets // welcomes pets ~ has a ban on pets

sensor | sensors | sensor,sensor_id,device,id,name | code | Sensor {v} / The device {v} / Probe {v} | It,The sensor
temperature,temp,temp_c,degrees | num 0 45 1 | reads {v} degrees / reports {v} C / measured {v} degrees / shows a temperature of {v} // gives {v} degrees
humidity,humidity_percent,moisture | int 5 99 | reports {v} percent humidity / shows a humidity of {v} / measured {v} percent moisture // gives a humidity of {v}
location,place,site,installed_in | city | stands in {v} / was installed in {v} / is in {v} // was set up in {v}
battery,battery_level,battery_percent,charge | int 1 100 | has {v} percent battery / is charged to {v} percent / has a battery level of {v} // is left with {v} percent of its battery
status,state,health | enum ok,warning,error,offline,active,idle | is {v} / has the status {v} / reports {v} // shows {v}
last_seen,date,updated,measured_on | date | was last seen on {v} / was read on {v} / sent data on {v} // last spoke on {v}
active,enabled,online,is_active | bool | is switched on ~ is switched off / is online ~ is not online // is working ~ is not working
pressure,pressure_hpa,hpa | int 950 1060 | measured {v} hPa / reports a pressure of {v} / reads {v} hPa // gives a pressure of {v}
firmware,version,firmware_version | version | runs version {v} / has firmware {v} / was updated to {v} // works with version {v}

invoice | invoices | invoice_number,number,invoice,id | code | Invoice {v} / The invoice {v} / Bill {v} | It,The invoice
customer,client,billed_to,recipient | person | is addressed to {v} / was sent to {v} / is for {v} // goes out to {v}
vendor,supplier,issued_by,seller | company | was issued by {v} / comes from {v} / was written by {v} // was made out by {v}
amount,total,total_amount,sum,balance | num 10 4000 2 | is over ${v} / has a total of {v} / comes to {v} euros / amounts to ${v} // adds up to {v}
tax,vat,tax_rate | int 1 27 | includes {v} percent tax / has a tax rate of {v} / adds {v} percent tax // is taxed at {v} percent
due_date,due,payable_by,deadline | date | is due on {v} / must be paid by {v} / is payable until {v} // has to be settled by {v}
issued,date,invoice_date,issue_date | date | was issued on {v} / is dated {v} / was written on {v} // was made out on {v}
paid,is_paid,settled | bool | is paid ~ is not paid / has been settled ~ has not been settled // was paid ~ remains unpaid
currency | enum USD,EUR,GBP,JPY,CHF | is in {v} / must be paid in {v} / was issued in {v} // is counted in {v}
iban,account,bank_account | code | is to be paid to {v} / names the account {v} / asks for payment to {v} // is payable to {v}

appointment | appointments | patient,name,client,patient_name | person | {v} | She,He,They
doctor,dentist,with,physician,therapist | person | sees {v} / has an appointment with {v} / will meet {v} / is a patient of {v} // is booked in with {v}
date,day,appointment_date,on | date | is booked for {v} / has a slot on {v} / comes on {v} // is due to come on {v}
time,at,hour,appointment_time | time | arrives at {v} / is expected at {v} / has the slot at {v} // is asked to come at {v}
reason,complaint,notes,purpose | reason | says that {v} / wrote that {v} / mentioned that {v} // explained that {v}
room,office,room_number | int 1 420 | goes to room {v} / waits in room {v} / is sent to room {v} // is led to room {v}
phone,phone_number,callback | phone | can be called at {v} / left the number {v} / has the phone number {v} // may be phoned at {v}
duration,minutes,duration_minutes | int 10 120 | needs {v} minutes / gets {v} minutes / is booked for {v} minutes // is given {v} minutes
insured,is_insured,has_insurance | bool | is insured ~ is not insured / has insurance ~ has no insurance // holds an insurance card ~ holds no insurance card
new_patient,first_visit,is_new | bool | comes for the first time ~ has been here before / is a new patient ~ is a known patient // is here for the first visit ~ is not here for the first visit
"""


def _alternatives(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(" / ") if part.strip())


@cache
def _further() -> dict[tuple[str, str], tuple[str, ...]]:
    """Training's further wordings, by domain and first key."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for block in MORE.strip().split("\n\n"):
        domain, *lines = block.splitlines()
        for line in lines:
            key, clauses = line.split(" | ")
            found[domain, key] = _alternatives(clauses)
    return found


def _parse_field(line: str, domain: str) -> Field:
    keys, kind, clauses = (part.strip() for part in line.split(" | "))
    known, _, held_out = clauses.partition(" // ")
    names = tuple(keys.split(","))
    more = _further().get((domain, names[0]), ())
    return Field(names, kind, (*_alternatives(known), *more), _alternatives(held_out))


@cache
def domains() -> tuple[Domain, ...]:
    """All domains, parsed from the table above."""
    found: list[Domain] = []
    for block in DOMAINS.strip().split("\n\n"):
        head, *lines = block.splitlines()
        name, plural, keys, kind, subjects, pronouns = (part.strip() for part in head.split(" | "))
        found.append(
            Domain(
                name,
                plural,
                tuple(keys.split(",")),
                kind,
                _alternatives(subjects),
                tuple(pronouns.split(",")),
                tuple(_parse_field(line, name) for line in lines),
            )
        )
    return tuple(found)
