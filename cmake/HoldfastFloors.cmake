# Floors as object libraries, and the functions that build libraries, programs and tests of them.
#
# An object library hands on what its headers need, but not the objects of the floors below it.
# Each floor therefore records its closure (itself and every floor beneath, in HOLDFAST_CLOSURE),
# and holdfast_link() links a target to all of them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A floor is OBJECT when it has sources and INTERFACE until then; both are linked alike.
function(holdfast_add_objects name)
  if(ARGN)
    add_library(${name} OBJECT ${ARGN})
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope}
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  set_target_properties(${name} PROPERTIES HOLDFAST_CLOSURE ${name} HOLDFAST_SCOPE ${scope})
endfunction()

# holdfast_third_party(<name>): cmake/third_party/<name>*.cpp, header-only libraries compiled once.
# One source each for Asio, its TLS and Beast: an embedder who compiles one of them himself gets no
# duplicate symbols, since the linker takes only the archive members it misses.
function(holdfast_third_party name)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/third_party/${name}*.cpp")
  holdfast_add_objects(holdfast_${name} ${sources})
  target_compile_definitions(holdfast_${name} PUBLIC
    BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
  target_link_libraries(holdfast_${name} PUBLIC Boost::headers Threads::Threads OpenSSL::SSL)
endfunction()

# holdfast_floor(<floor> [ABOVE <floor>…] [EXCEPT <file>…] [USES <library>…])
# makes holdfast_<floor> from src/<floor>/**/*.cpp. Who may include whom is checked by
# tools/lint/layers; ABOVE says what is linked with it.
function(holdfast_floor floor)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ABOVE;EXCEPT;USES")
  set(name holdfast_${floor})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${floor}/*.cpp")
  foreach(file IN LISTS arg_EXCEPT)
    list(REMOVE_ITEM sources "${PROJECT_SOURCE_DIR}/src/${floor}/${file}")
  endforeach()
  holdfast_add_objects(${name} ${sources})
  get_target_property(scope ${name} HOLDFAST_SCOPE)
  target_link_libraries(${name} ${scope} Boost::headers)

  set(closure ${name})
  list(TRANSFORM arg_ABOVE PREPEND holdfast_)
  foreach(below IN LISTS arg_ABOVE arg_USES)
    if(below MATCHES "^holdfast_")
      target_link_libraries(${name} ${scope} ${below})
      get_target_property(more ${below} HOLDFAST_CLOSURE)
      list(APPEND closure ${more})
    elseif(scope STREQUAL "PUBLIC")
      target_link_libraries(${name} PRIVATE ${below})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_target_properties(${name} PROPERTIES HOLDFAST_CLOSURE "${closure}")
endfunction()

# holdfast_closure(<variable> <floor>…): the targets of these floors and all beneath them.
function(holdfast_closure variable)
  set(closure "")
  foreach(floor IN LISTS ARGN)
    get_target_property(more holdfast_${floor} HOLDFAST_CLOSURE)
    list(APPEND closure ${more})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set(${variable} "${closure}" PARENT_SCOPE)
endfunction()

# holdfast_link(<target> <floor>…): links the floors and everything beneath them.
function(holdfast_link target)
  holdfast_closure(closure ${ARGN})
  target_link_libraries(${target} PRIVATE ${closure})
endfunction()

# What the programs allocate with: a tenth less CPU a payment than with the C library's, whose two
# threads free each other's memory. Whoever embeds the library chooses for himself, and a sanitizer
# brings its own.
find_library(HOLDFAST_JEMALLOC jemalloc)
function(holdfast_allocator name)
  if(HOLDFAST_JEMALLOC AND NOT HOLDFAST_SANITIZE)
    target_link_libraries(${name} PRIVATE "${HOLDFAST_JEMALLOC}")
  endif()
endfunction()

# holdfast_program(<name> SOURCES <file>… FLOORS <floor>…): a binary at the top of the build folder.
function(holdfast_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FLOORS")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    file(GLOB found CONFIGURE_DEPENDS "${source}")
    if(NOT found)
      message(STATUS "holdfast: no ${source} yet, ${name} is not built")
      return()
    endif()
  endforeach()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  holdfast_allocator(${name})
  holdfast_link(${name} ${arg_FLOORS})
  if(name STREQUAL "holdfast")
    install(TARGETS ${name} RUNTIME COMPONENT program)
  endif()
endfunction()

# holdfast_library(<floor>…): the one installed library, libholdfast, and its CMake package.
# The floors' objects are taken as sources, so that the package exports this one target only.
function(holdfast_library)
  holdfast_closure(closure ${ARGN})
  set(objects "")
  foreach(name IN LISTS closure)
    get_target_property(scope ${name} HOLDFAST_SCOPE)
    if(scope STREQUAL "PUBLIC")
      list(APPEND objects $<TARGET_OBJECTS:${name}>)
    endif()
  endforeach()
  add_library(libholdfast STATIC ${objects})
  add_library(holdfast::holdfast ALIAS libholdfast)
  set_target_properties(libholdfast PROPERTIES
    OUTPUT_NAME holdfast EXPORT_NAME holdfast LINKER_LANGUAGE CXX)
  target_include_directories(libholdfast PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(libholdfast PUBLIC cxx_std_20)
  target_compile_definitions(libholdfast PUBLIC
    BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)
  target_link_libraries(libholdfast
    PUBLIC Boost::headers Threads::Threads
    PRIVATE Boost::json Boost::url OpenSSL::SSL OpenSSL::Crypto SQLite::SQLite3 spdlog::spdlog
      prometheus-cpp::core PkgConfig::secp256k1 PkgConfig::cryptopp)

  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")
  configure_package_config_file(cmake/holdfastConfig.cmake.in
    "${PROJECT_BINARY_DIR}/holdfastConfig.cmake" INSTALL_DESTINATION ${package})
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(TARGETS libholdfast EXPORT holdfastTargets ARCHIVE COMPONENT library)
  install(DIRECTORY include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
  install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION ${package} COMPONENT library)
  install(FILES "${PROJECT_BINARY_DIR}/holdfastConfig.cmake"
    "${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake" DESTINATION ${package}
    COMPONENT library)
endfunction()
